import { problem } from '../http/problem.js';
import type { HandlerContext, JsonForm } from '../operation/operation.js';

/** `Host` header that consists of a name or an address, with an optional port. */
const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/;

/**
 * Returns the LFS URL of the remote in the request: at the given address for remotes, or otherwise at the `Host` of the
 * request; with the ref namespace of the remote. Contains no credential.
 */
export function lfsUrlOf({
  gitUrl,
  isGitUrlGiven,
  scheme,
  params,
  header,
}: Pick<HandlerContext, 'gitUrl' | 'isGitUrlGiven' | 'scheme' | 'params' | 'header'>): string {
  const host = header('host') ?? '';
  const origin = HOST.test(host) && !isGitUrlGiven ? `${scheme}://${host}` : gitUrl;
  const name = params.repo_name!.split('/').map(encodeURIComponent).join('/');
  const namespace = params.namespace ? `+${params.namespace}` : '';
  return `${origin}/${name}${namespace}.git/info/lfs`;
}

/** Throws for the import remote, which accepts pushes and shows neither refs nor objects. */
export function refuseImportRemote({ params }: Pick<HandlerContext, 'params'>): void {
  if (params.namespace !== 'import') return;
  throw problem('forbidden', 'The import remote takes pushes only; download from the remote without +import.');
}

/**
 * JSON of the LFS API (git-lfs, docs/api/batch.md): requests need its media type in `Accept` and `Content-Type`, and
 * validation errors of objects are 422.
 */
export const LFS_JSON: JsonForm = { mediaType: 'application/vnd.git-lfs+json', invalid: 'unprocessable_entity' };

export const LFS_HEADERS = { 'content-type': LFS_JSON.mediaType };

import { problem } from '../http/problem.js';
import type { HandlerContext, JsonForm } from '../operation/operation.js';

/** A `Host` header that is a name or an address, with a port or without, and nothing more. */
const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/;

/**
 * The LFS server of the remote that was asked: at the address that was given for remotes, else as the client reached it,
 * by the `Host` it sent; and the remote's own namespace. Holds no credential.
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

/** The import remote takes pushes and shows nothing: neither refs nor what they lead to. */
export function refuseImportRemote({ params }: Pick<HandlerContext, 'params'>): void {
  if (params.namespace !== 'import') return;
  throw problem('forbidden', 'The import remote takes pushes only; download from the remote without +import.');
}

/**
 * git-lfs, docs/api/batch.md: "All Batch API requests use the POST verb, and require the following HTTP headers. The
 * request and response bodies are JSON.
 *
 *     Accept: application/vnd.git-lfs+json
 *     Content-Type: application/vnd.git-lfs+json"
 *
 * and "422 - Validation error with one or more of the objects in the request."
 */
export const LFS_JSON: JsonForm = { mediaType: 'application/vnd.git-lfs+json', invalid: 'unprocessable_entity' };

export const LFS_HEADERS = { 'content-type': LFS_JSON.mediaType };

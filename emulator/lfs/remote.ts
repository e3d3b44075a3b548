import { problem } from '../http/problem.js';
import type { HandlerContext, JsonForm } from '../operation/operation.js';

/** Pattern for a `Host` header that consists of a name or an IP address, and an optional port. */
const HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/;

/**
 * Returns the base URL of the LFS API for the remote in the request. The origin is the configured address of remotes;
 * if none is configured, it is the `Host` of the request. The repository name keeps a suffix such as `+ephemeral`. The
 * URL contains no credential.
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

/**
 * Throws `forbidden` for a remote `<name>+import.git`. Such a remote accepts only pushes and shows neither refs nor
 * objects.
 */
export function refuseImportRemote({ params }: Pick<HandlerContext, 'params'>): void {
  if (params.namespace !== 'import') return;
  throw problem(
    'forbidden',
    'The +import remote accepts only uploads. Download from the remote whose URL has no +import.',
  );
}

/**
 * JSON form of the Git LFS API (git-lfs, docs/api/batch.md). Requests must name its media type in `Accept` and
 * `Content-Type`. Invalid members cause status 422.
 */
export const LFS_JSON: JsonForm = { mediaType: 'application/vnd.git-lfs+json', invalid: 'unprocessable_entity' };

export const LFS_HEADERS = { 'content-type': LFS_JSON.mediaType };

import type { Operation } from '../../operation/operation.js';
import type { ServiceResponse } from '../service.js';

export const LFS_TYPE = 'application/vnd.git-lfs+json';

/** Returns true if an error response has this status and code, and the operation's error format. */
export function isWorded(
  { dialect = 'problem' }: Operation,
  response: ServiceResponse,
  status: number,
  code: string,
): boolean {
  const type = response.headers['content-type'];
  if (dialect === 'git') return type === 'text/plain; charset=utf-8' && /^\S.*\n$/.test(response.text);
  if (dialect === 'lfs') {
    return (
      type === LFS_TYPE && response.json.message !== '' && response.json.request_id === response.headers['x-request-id']
    );
  }
  // Exclude these two errors. They occur before the request's operation is known, and therefore do not have its error
  // format.
  if (dialect === 'error' && code !== 'rate_limited' && code !== 'route_not_found') {
    return type === 'application/json' && Object.keys(response.json).join() === 'error' && response.json.error !== '';
  }
  const { json } = response;
  const isProblem = type === 'application/problem+json' && json.code === code && json.status === status;
  return isProblem && json.error === json.detail && json.detail !== '';
}

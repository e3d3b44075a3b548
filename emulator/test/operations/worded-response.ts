import type { Operation } from '../../operation/operation.js';
import type { ServiceResponse } from '../service.js';

export const LFS_TYPE = 'application/vnd.git-lfs+json';

/** Returns true if an error response has the given status and code, and the error format of the operation. */
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
  // Exclude these two errors, because they occur before the operation of a request is known, and so do not have the
  // error format of the operation.
  if (dialect === 'error' && code !== 'rate_limited' && code !== 'route_not_found') {
    return type === 'application/json' && Object.keys(response.json).join() === 'error' && response.json.error !== '';
  }
  const { json } = response;
  const isProblem = type === 'application/problem+json' && json.code === code && json.status === status;
  return isProblem && json.error === json.detail && json.detail !== '';
}

import { errorCodesOf } from '../../api/error-codes.js';
import { problemCodes } from '../../http/problem.js';
import type { Operation } from '../../operation/operation.js';
import type { ServiceResponse } from '../service.js';

/**
 * Compares a response with the operation's description in the table of operations: status, body and error format.
 * Returns a text about the first difference. Undefined if the response is as documented.
 */
export function faultOf(operation: Operation, response: ServiceResponse): string | undefined {
  const { status, json } = response;
  const type = response.headers['content-type'] ?? '';
  if (status >= 500) return `a ${status}`;
  const reply = operation.replies[status];
  if (reply !== undefined) {
    if (typeof reply === 'string') return undefined;
    const checked = reply.safeParse(json);
    return checked.success ? undefined : `not the documented body: ${checked.error.message}`;
  }
  const documented = problemCodes().filter(({ code }) => errorCodesOf(operation).has(code));
  if (!documented.some((row) => row.status === status)) return `an undocumented ${status}`;
  if (operation.dialect === 'error') {
    const isShort = Object.keys(json).join() === 'error' && type === 'application/json' && json.error !== '';
    return isShort ? undefined : 'not {error}';
  }
  if (operation.dialect === 'result' && json.result !== undefined) {
    return json.result.success === false && json.commit === null ? undefined : 'no failed result';
  }
  const isProblem =
    type === 'application/problem+json' &&
    json.status === status &&
    json.error === json.detail &&
    ['type', 'title', 'detail', 'instance', 'code'].every((member) => typeof json[member] === 'string');
  if (!isProblem) return 'no problem details';
  if (!documented.some(({ code }) => code === json.code)) return `an undocumented ${json.code}`;
  return /\bat .*:\d+:\d+|node_modules|file:\/\/|\/dist\/|zod/i.test(response.text) ? 'a stack or a path' : undefined;
}

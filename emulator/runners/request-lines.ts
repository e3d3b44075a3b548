import type { AnsweredRequest } from '../index.js';
import { printable } from '../log/log.js';

/** Maximum number of requests that are printed for one failed test. */
const MAX_LINES = 100;

/**
 * Formats the requests of a test, one per line, oldest first. Only the last `MAX_LINES` requests are shown. `dropped`:
 * number of earlier requests that the journal (bounded list of answered requests) no longer contains.
 */
export function requestLines(requests: readonly AnsweredRequest[], dropped = 0): string[] {
  if (requests.length === 0) return ['The emulator received no requests from this test.'];
  const shown = requests.slice(-MAX_LINES);
  const left = dropped + requests.length - shown.length;
  const title = `Requests that the emulator received from this test${left === 0 ? '' : `, without the first ${left}`}:`;
  return [title, ...shown.map((request) => `  ${requestLine(request)}`)];
}

/**
 * Formats a request as one line with time, id, method, path, status, error code, fault and reason:
 * `12:00:00.000 req-00000001 POST /api/repos 409 repository_thawing fault-1: The fault …`.
 */
function requestLine({ at, id, method, path, query, status, code, outcome, faults, why }: AnsweredRequest): string {
  const target = query === '' ? path : `${path}?${query}`;
  const parts = [at.slice(11, 23), id, method, target, status];
  if (code !== undefined) parts.push(code);
  if (outcome !== 'complete') parts.push(`(${outcome})`);
  parts.push(...faults);
  return printable(`${parts.join(' ')}${why.length === 0 ? '' : `: ${why.join('; ')}`}`);
}

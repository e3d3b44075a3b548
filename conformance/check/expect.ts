import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../http/exchange.js';

/** An expectation that was not met: the target's doing, so it becomes a verdict and never a crash. */
export class Unmet extends Error {
  override readonly name = 'Unmet';

  constructor(
    readonly what: string,
    readonly expected: unknown,
    readonly actual: unknown,
  ) {
    super(what);
  }
}

/** The rule cannot be judged here, for a reason that is nobody's fault. */
export class NotHere extends Error {
  override readonly name = 'NotHere';
}

/** The target asked to be left alone (429). */
export class Blocked extends Error {
  override readonly name = 'Blocked';
}

export function expectTrue(condition: boolean, what: string, actual?: unknown): asserts condition {
  if (!condition) throw new Unmet(what, true, actual ?? false);
}

export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Unmet(what, expected, actual);
}

export function expectOther(actual: unknown, unexpected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, unexpected))
    throw new Unmet(what, `anything but ${JSON.stringify(unexpected)}`, actual);
}

export function expectOneOf(actual: unknown, allowed: readonly unknown[], what: string): void {
  if (!allowed.includes(actual)) throw new Unmet(what, allowed, actual);
}

export function expectMatch(actual: unknown, pattern: RegExp, what: string): asserts actual is string {
  if (typeof actual !== 'string' || !pattern.test(actual)) throw new Unmet(what, String(pattern), actual);
}

/** The status, and with it nothing else. */
export function expectStatus(answer: Answer, ...statuses: readonly number[]): void {
  if (statuses.includes(answer.status)) return;
  throw new Unmet('the status is right', statuses.length === 1 ? statuses[0] : statuses, answer.outcome);
}

/** Any status of success. */
export function expectSuccess(answer: Answer): void {
  if (answer.status < 200 || answer.status > 299) throw new Unmet('the request succeeds', '2xx', answer.outcome);
}

/** Any refusal that blames the request. */
export function expectRefused(answer: Answer): void {
  if (answer.status < 400 || answer.status > 499) throw new Unmet('the request is refused', '4xx', answer.outcome);
}

/** A status together with its `code`. A body without any `code` passes here; its shape is judged by other rules. */
export function expectProblem(answer: Answer, status: number, ...codes: readonly string[]): void {
  const fits =
    answer.status === status && (answer.code === undefined ? saysWithoutCode(answer) : codes.includes(answer.code));
  if (!fits) throw new Unmet('the refusal has its status and code', `${status} ${codes.join(' or ')}`, answer.outcome);
}

/** A status together with its `code`, which has to be there. */
export function expectCode(answer: Answer, status: number, code: string): void {
  if (answer.outcome !== `${status} ${code}`) {
    throw new Unmet('the refusal has its status and code', `${status} ${code}`, answer.outcome);
  }
}

/** Whether the answer is one of a set: `404` stands for any code, `404 ref_not_found` for that one. */
export function isMember(answer: Answer, member: string): boolean {
  const [status, code] = member.split(' ');
  if (String(answer.status) !== status) return false;
  return code === undefined || answer.code === code || (answer.code === undefined && saysWithoutCode(answer));
}

const SHA = /^[0-9a-f]{40}$/;

export function expectSha(value: unknown, what: string): asserts value is string {
  expectMatch(value, SHA, what);
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** An RFC 3339 time that also exists. */
export function expectTime(value: unknown, what: string): asserts value is string {
  expectMatch(value, RFC3339, what);
  if (Number.isNaN(Date.parse(value))) throw new Unmet(what, 'a time that exists', value);
}

const WRITE_WORKFLOW = /\/(commit-pack|restore-commit|reset-commits|notes)$/;

/** The two bodies that tell of a failure without a code: a member `error`, and the result of a write (A07). */
function saysWithoutCode(answer: Answer): boolean {
  if (typeof answer.find('error') === 'string') return true;
  return WRITE_WORKFLOW.test(answer.exchange.path) && answer.find('result', 'success') === false;
}

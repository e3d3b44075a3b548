import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './answer.js';
import { readCode } from './codes.js';
import { AssertionFailure } from './outcomes.js';

export function expectTrue(condition: boolean, what: string, actual?: unknown): asserts condition {
  if (!condition) throw new AssertionFailure(what, true, actual ?? false);
}

/** What is missing on both sides proves nothing: where something has to be missing, `expectAbsent` says so. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (expected === undefined || !isDeepStrictEqual(actual, expected)) {
    throw new AssertionFailure(what, expected ?? 'something to compare with', actual);
  }
}

export function expectAbsent(actual: unknown, what: string): void {
  if (actual !== undefined) throw new AssertionFailure(what, 'nothing', actual);
}

export function expectOther(actual: unknown, unexpected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, unexpected))
    throw new AssertionFailure(what, `anything but ${JSON.stringify(unexpected)}`, actual);
}

export function expectOneOf(actual: unknown, allowed: readonly unknown[], what: string): void {
  if (!allowed.includes(actual)) throw new AssertionFailure(what, allowed, actual);
}

export function expectMatch(actual: unknown, pattern: RegExp, what: string): asserts actual is string {
  if (typeof actual !== 'string' || !pattern.test(actual)) throw new AssertionFailure(what, String(pattern), actual);
}

/** The status, and with it nothing else. Returns the answer. */
export function expectStatus(answer: Answer, ...statuses: readonly number[]): Answer {
  if (statuses.includes(answer.status)) return answer;
  throw new AssertionFailure('the status is right', statuses.length === 1 ? statuses[0] : statuses, answer.outcome);
}

/** Any status of success. Returns the answer. */
export function expectSuccess(answer: Answer): Answer {
  if (answer.status >= 200 && answer.status <= 299) return answer;
  throw new AssertionFailure('the request succeeds', '2xx', answer.outcome);
}

/** Any refusal that blames the request. */
export function expectRefused(answer: Answer): void {
  if (answer.status < 400 || answer.status > 499)
    throw new AssertionFailure('the request is refused', '4xx', answer.outcome);
}

/** A status together with its `code`. A body without any `code` passes here; its shape is checked by other rules. */
export function expectProblem(answer: Answer, status: number, ...codes: readonly string[]): void {
  const isRight = codes.some((code) => isMember(answer, `${status} ${code}`));
  if (!isRight) throw wrongRefusal(answer, `${status} ${codes.join(' or ')}`);
}

/** A status together with its `code`, which has to be there. */
export function expectCode(answer: Answer, status: number, code: string): void {
  if (readOutcome(answer) !== `${status} ${code}`) {
    throw wrongRefusal(answer, `${status} ${code}`);
  }
}

function wrongRefusal({ outcome }: Answer, expected: string): AssertionFailure {
  return new AssertionFailure('the refusal has its status and code', expected, outcome);
}

/** Status and code as a client reads them: two new codes of a status are the same. */
export function readOutcome({ status, code, outcome }: Answer): string {
  return code === undefined ? outcome : `${status} ${readCode(status, code)}`;
}

/** Whether the answer is one of a set: `404` stands for any code, `404 ref_not_found` for that one. */
export function isMember(answer: Answer, member: string): boolean {
  const [status, code] = member.split(' ');
  if (String(answer.status) !== status) return false;
  if (answer.code === undefined) return code === undefined || saysWithoutCode(answer);
  return code === undefined || readCode(answer.status, answer.code) === code;
}

const SHA = /^[0-9a-f]{40}$/;

export function expectSha(value: unknown, what: string): asserts value is string {
  expectMatch(value, SHA, what);
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** An RFC 3339 time that also exists. */
export function expectTime(value: unknown, what: string): asserts value is string {
  expectMatch(value, RFC3339, what);
  if (Number.isNaN(Date.parse(value))) throw new AssertionFailure(what, 'a time that exists', value);
}

const WRITE_WORKFLOW = /\/(commit-pack|restore-commit|reset-commits|notes)$/;

/** The two bodies that tell of a failure without a code: a member `error`, and the result of a write (A07). */
function saysWithoutCode(answer: Answer): boolean {
  if (typeof answer.find('error') === 'string') return true;
  return WRITE_WORKFLOW.test(answer.exchange.path) && answer.find('result', 'success') === false;
}

import { isDeepStrictEqual } from 'node:util';
import type { ApiResponse } from './api-response.js';
import { readCode } from './codes.js';
import { AssertionFailure } from './outcomes.js';

export function expectTrue(condition: boolean, what: string, actual?: unknown): asserts condition {
  if (!condition) throw new AssertionFailure(what, true, actual ?? false);
}

/**
 * Fails the rule unless two values are deeply equal. Also fails if `expected` is undefined, because two absent values
 * prove nothing; use `expectAbsent` to require absence. `what`: requirement, for the report.
 */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (expected === undefined || !isDeepStrictEqual(actual, expected)) {
    throw new AssertionFailure(what, expected ?? 'a defined value', actual);
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

/** Fails the rule unless the response has one of `statuses`. Returns the response for further checks. */
export function expectStatus(response: ApiResponse, ...statuses: readonly number[]): ApiResponse {
  if (statuses.includes(response.status)) return response;
  throw new AssertionFailure('unexpected status', statuses.length === 1 ? statuses[0] : statuses, response.outcome);
}

/** Fails the rule unless the response has a 2xx status. Returns the response for further checks. */
export function expectSuccess(response: ApiResponse): ApiResponse {
  if (response.status >= 200 && response.status <= 299) return response;
  throw new AssertionFailure('the request must succeed', '2xx', response.outcome);
}

/** Fails the rule unless the response has a 4xx status. The error code does not matter. */
export function expectRefused(response: ApiResponse): void {
  if (response.status < 400 || response.status > 499)
    throw new AssertionFailure('the request must be refused', '4xx', response.outcome);
}

/**
 * Fails the rule unless the response has this status and one of these error codes. Also accepts the two documented
 * error forms without a code, because other rules check those forms.
 */
export function expectProblem(response: ApiResponse, status: number, ...codes: readonly string[]): void {
  const isRight = codes.some((code) => isMember(response, `${status} ${code}`));
  if (!isRight) throw wrongRefusal(response, `${status} ${codes.join(' or ')}`);
}

/**
 * Fails the rule unless the response has this status and this error code. Unlike `expectProblem`, it does not accept an
 * error body without a code.
 */
export function expectCode(response: ApiResponse, status: number, code: string): void {
  if (readOutcome(response) !== `${status} ${code}`) {
    throw wrongRefusal(response, `${status} ${code}`);
  }
}

function wrongRefusal({ outcome }: ApiResponse, expected: string): AssertionFailure {
  return new AssertionFailure('unexpected status or code of the refusal', expected, outcome);
}

/**
 * Returns status and error code as a client must read them, such as `404 ref_not_found`. Unknown codes are replaced by
 * the generic code of the status, so two unknown codes compare as equal.
 */
export function readOutcome({ status, code, outcome }: ApiResponse): string {
  return code === undefined ? outcome : `${status} ${readCode(status, code)}`;
}

/**
 * Returns true if the response matches one permitted outcome, `member`. `404` matches status 404 with any code; `404
 * ref_not_found` matches only this code.
 */
export function isMember(response: ApiResponse, member: string): boolean {
  const [status, code] = member.split(' ');
  if (String(response.status) !== status) return false;
  if (response.code === undefined) return code === undefined || saysWithoutCode(response);
  return code === undefined || readCode(response.status, response.code) === code;
}

const SHA = /^[0-9a-f]{40}$/;

/** Returns true for a full SHA: 40 lower-case hexadecimal digits. */
export const isSha = (value: unknown): value is string => typeof value === 'string' && SHA.test(value);

/** Returns true for a whole number that is not negative. */
export const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

/** Pattern of a `Retry-After` value: seconds, or a date (RFC 9110, section 10.2.3). */
export const RETRY_AFTER = /^(\d+|[A-Z][a-z]{2}, .* GMT)$/;

export function expectSha(value: unknown, what: string): asserts value is string {
  expectMatch(value, SHA, what);
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Fails the rule unless the value is an RFC 3339 time. `Date.parse` must also accept it, so a month 13 fails. `what`:
 * requirement, for the report.
 */
export function expectTime(value: unknown, what: string): asserts value is string {
  expectMatch(value, RFC3339, what);
  if (Number.isNaN(Date.parse(value))) throw new AssertionFailure(what, 'a valid time', value);
}

const WRITE_WORKFLOW = /\/(commit-pack|restore-commit|reset-commits|notes)$/;

/**
 * Returns true if an error body has one of the two documented forms without a code: an object with a string `error`, or
 * the result of a failed write. See ambiguity A07 of the specification.
 */
function saysWithoutCode(response: ApiResponse): boolean {
  if (typeof response.find('error') === 'string') return true;
  return WRITE_WORKFLOW.test(response.exchange.path) && response.find('result', 'success') === false;
}

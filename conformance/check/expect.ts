import { isDeepStrictEqual } from 'node:util';
import type { ApiResponse } from './api-response.js';
import { readCode } from './codes.js';
import { AssertionFailure } from './outcomes.js';

export function expectTrue(condition: boolean, what: string, actual?: unknown): asserts condition {
  if (!condition) throw new AssertionFailure(what, true, actual ?? false);
}

/**
 * Expects equal values. Fails if `expected` is undefined, because two absent values prove nothing; use `expectAbsent`
 * to require absence.
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

/** Expects one of these statuses and checks nothing else. Returns the response. */
export function expectStatus(response: ApiResponse, ...statuses: readonly number[]): ApiResponse {
  if (statuses.includes(response.status)) return response;
  throw new AssertionFailure('unexpected status', statuses.length === 1 ? statuses[0] : statuses, response.outcome);
}

/** Expects any 2xx status. Returns the response. */
export function expectSuccess(response: ApiResponse): ApiResponse {
  if (response.status >= 200 && response.status <= 299) return response;
  throw new AssertionFailure('the request must succeed', '2xx', response.outcome);
}

/** Expects any 4xx status. */
export function expectRefused(response: ApiResponse): void {
  if (response.status < 400 || response.status > 499)
    throw new AssertionFailure('the request must be refused', '4xx', response.outcome);
}

/**
 * Expects a status with one of these codes. A body without a code passes if it has one of the two documented forms that
 * have none; other rules check its form.
 */
export function expectProblem(response: ApiResponse, status: number, ...codes: readonly string[]): void {
  const isRight = codes.some((code) => isMember(response, `${status} ${code}`));
  if (!isRight) throw wrongRefusal(response, `${status} ${codes.join(' or ')}`);
}

/** Expects a status with a code, which must be present. */
export function expectCode(response: ApiResponse, status: number, code: string): void {
  if (readOutcome(response) !== `${status} ${code}`) {
    throw wrongRefusal(response, `${status} ${code}`);
  }
}

function wrongRefusal({ outcome }: ApiResponse, expected: string): AssertionFailure {
  return new AssertionFailure('unexpected status or code of the refusal', expected, outcome);
}

/** Returns status and code as a client reads them. Two unknown codes of one status give the same result. */
export function readOutcome({ status, code, outcome }: ApiResponse): string {
  return code === undefined ? outcome : `${status} ${readCode(status, code)}`;
}

/**
 * Returns true if the response matches a member of a set: `404` matches any code, `404 ref_not_found` only this code.
 */
export function isMember(response: ApiResponse, member: string): boolean {
  const [status, code] = member.split(' ');
  if (String(response.status) !== status) return false;
  if (response.code === undefined) return code === undefined || saysWithoutCode(response);
  return code === undefined || readCode(response.status, response.code) === code;
}

const SHA = /^[0-9a-f]{40}$/;

export function expectSha(value: unknown, what: string): asserts value is string {
  expectMatch(value, SHA, what);
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Expects an RFC 3339 time that exists in the calendar. */
export function expectTime(value: unknown, what: string): asserts value is string {
  expectMatch(value, RFC3339, what);
  if (Number.isNaN(Date.parse(value))) throw new AssertionFailure(what, 'a valid time', value);
}

const WRITE_WORKFLOW = /\/(commit-pack|restore-commit|reset-commits|notes)$/;

/** Returns true for the two error bodies without a code (A07): a body with a member `error`, and a write result. */
function saysWithoutCode(response: ApiResponse): boolean {
  if (typeof response.find('error') === 'string') return true;
  return WRITE_WORKFLOW.test(response.exchange.path) && response.find('result', 'success') === false;
}

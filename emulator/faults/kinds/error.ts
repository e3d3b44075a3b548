import { z } from 'zod';
import { type ProblemCode, problemCodes } from '../../http/problem.js';
import { COUNT, type Key, LINE, strict } from '../key.js';
import { ANSWERING, type Kind } from './kind.js';

/** Value of `Retry-After`: seconds; the HTTP date one second from now; no header; or an invalid value. */
export type RetryAfter = number | 'http-date' | 'omit' | 'garbage';

/** Error with the status and dialect of the operation. In the text form, the code is the name of the fault. */
export interface ErrorValue {
  readonly code: ProblemCode;
  readonly detail?: string;
  readonly retryAfter?: RetryAfter;
  readonly t?: number;
}

type ErrorKeys = Omit<ErrorValue, 'code' | 'detail'>;

const RETRY_WORDS = ['http-date', 'omit', 'garbage'] as const;

export const RETRY_AFTER: Key<RetryAfter> = {
  wants: 'seconds, http-date, omit or garbage',
  form: { ...COUNT.form, values: RETRY_WORDS },
  read: (text) => RETRY_WORDS.find((word) => word === text) ?? COUNT.read(text),
  schema: () =>
    z.union([COUNT.schema(), z.enum(RETRY_WORDS)], { error: 'Must be seconds, http-date, omit or garbage' }),
};

export const error: Kind<ErrorValue, ErrorKeys> = {
  ...ANSWERING,
  about: 'an error by its code',
  keys: { 'retry-after': RETRY_AFTER },
  toKeys: ({ code: _, detail, ...keys }) => (detail === undefined ? keys : undefined),
  schema: () =>
    strict({
      code: z.enum(problemCodes().map(({ code }) => code) as [ProblemCode, ...ProblemCode[]]),
      detail: LINE.schema().optional(),
      retryAfter: RETRY_AFTER.schema().optional(),
      t: COUNT.schema().optional(),
    }),
};

/**
 * Codes of repository states. They fire as if the repository were in the state, so the response is the same as in that
 * state.
 */
const STATE_CODES: Readonly<Partial<Record<ProblemCode, string>>> = {
  repository_thawing: 'the repository is being restored from cold storage',
  sync_in_progress: 'an upstream sync of the repository is running',
  repository_deleted: 'the repository has been deleted',
};

export function isStateCode(code: ProblemCode): boolean {
  return Object.hasOwn(STATE_CODES, code);
}

/** Codes of organization switches that only few operations check. Other operations cannot return them. */
const SWITCH_CODES: readonly ProblemCode[] = ['hosting_not_enabled', 'forge_app_not_configured'];

export function isSwitchCode(code: ProblemCode): boolean {
  return SWITCH_CODES.includes(code);
}

/** Returns the kind that the text form has under the name of a code. */
export function errorOfCode(code: ProblemCode, status: number): Kind<ErrorValue, ErrorKeys> {
  return {
    ...error,
    about:
      STATE_CODES[code] ??
      `${status}, in the error format of the operation${isSwitchCode(code) ? '; only operations that list the code' : ''}`,
    keys: { ...error.keys, ...(code === 'rate_limited' && { t: COUNT }) },
    ofKeys: (keys) => ({ code, ...keys }),
  };
}

import { z } from 'zod';
import { type ProblemCode, problemCodes } from '../../http/problem.js';
import { COUNT, type Key, LINE, type NamedKey, strict } from '../key.js';
import { ANSWERING, type Kind } from './kind.js';

/**
 * Value of the `Retry-After` header of an error response. A number is in seconds. `http-date` is the date one second
 * from now, `omit` sends no header, and `garbage` is an invalid value.
 */
export type RetryAfter = number | 'http-date' | 'omit' | 'garbage';

/**
 * Error response with an error code of the specification. The code determines the HTTP status; the operation determines
 * the format (JSON or Git). A fault written as text has the code as its name: `rate_limited;t=5`.
 */
export interface ErrorValue {
  readonly code: ProblemCode;
  readonly detail?: string;
  readonly retryAfter?: RetryAfter;
  readonly t?: number;
}

type ErrorKeys = Omit<ErrorValue, 'code' | 'detail'>;

const RETRY_WORDS = ['http-date', 'omit', 'garbage'] as const;

export const RETRY_AFTER: Key<RetryAfter> & NamedKey = {
  about: 'Value of the header Retry-After; omit: no header, garbage: an invalid value',
  wants: 'seconds, http-date, omit or garbage',
  form: { ...COUNT.form, values: RETRY_WORDS },
  read: (text) => RETRY_WORDS.find((word) => word === text) ?? COUNT.read(text),
  schema: () =>
    z.union([COUNT.schema(), z.enum(RETRY_WORDS)], { error: 'Must be seconds, http-date, omit or garbage' }),
};

export const error: Kind<ErrorValue, ErrorKeys> = {
  ...ANSWERING,
  about: 'responds with the error that has this code',
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
 * Error codes that report a temporary state of a repository, with a description of the state. A fault with such a code
 * fires only for requests that the real state would refuse.
 */
const STATE_CODES: Readonly<Partial<Record<ProblemCode, string>>> = {
  repository_thawing: 'the repository is being restored from cold storage',
  sync_in_progress: 'an upstream sync of the repository is running',
  repository_deleted: 'the repository has been deleted',
};

/** Returns true if the error code means a temporary state of a repository, such as a running sync. */
export function isStateCode(code: ProblemCode): boolean {
  return Object.hasOwn(STATE_CODES, code);
}

/**
 * Error codes that report a setting of the organization, such as disabled hosting. Only a few operations check these
 * settings, so only their requests can get a fault with such a code.
 */
const SWITCH_CODES: readonly ProblemCode[] = ['hosting_not_enabled', 'forge_app_not_configured'];

/** Returns true if the error code means a setting of the organization. Only few operations check such settings. */
export function isSwitchCode(code: ProblemCode): boolean {
  return SWITCH_CODES.includes(code);
}

/**
 * Returns the kind of fault for one error code. In the text form of faults, each error code is a name of its own:
 * `rate_limited` means `{"error": {"code": "rate_limited"}}`.
 */
export function errorOfCode(code: ProblemCode, status: number): Kind<ErrorValue, ErrorKeys> {
  return {
    ...error,
    about:
      STATE_CODES[code] ??
      `${status}, in the error format of the operation${isSwitchCode(code) ? '; only operations that list the code' : ''}`,
    keys: {
      ...error.keys,
      ...(code === 'rate_limited' && {
        t: { about: 'Seconds until the next request is allowed (`t` of the header RateLimit)', ...COUNT },
      }),
    },
    ofKeys: (keys) => ({ code, ...keys }),
  };
}

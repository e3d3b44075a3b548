import { integer, pattern } from '../key.js';
import { RETRY_AFTER, type RetryAfter } from './error.js';
import { ANSWERING, type Kind } from './kind.js';

/** Error response with any status and error code, in the error format of the operation. */
export interface Code {
  readonly status: number;
  readonly code: string;
  readonly retryAfter?: RetryAfter;
}

const CODE = pattern(
  'a code, such as quota_exhausted',
  /^[a-z][a-z0-9_]{0,99}$/,
  'quota_exhausted',
  'Must be lower-case letters, digits and _',
);

export const code: Kind<Code> = {
  ...ANSWERING,
  about: 'responds with an error of any code, even one that the specification does not list',
  formerly: 'unknownCode',
  keys: {
    code: { about: 'Error code', ...CODE },
    status: { about: 'HTTP status', ...integer(400, 599) },
    'retry-after': RETRY_AFTER,
  },
  needs: ['code', 'status'],
};

import { validateHeaderName, validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { COUNT, choice, integer, type Key, pattern, strict } from '../key.js';
import { ANSWERING, type Kind } from './kind.js';

/** Response with any status, headers and body. */
export interface Raw {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bodyBase64?: string;
  readonly cut?: RawCut;
}

/**
 * End of a response that is truncated after its body: `fin` closes the connection, `rst` resets it, and `stall` keeps it
 * open but sends no more bytes.
 */
export interface RawCut {
  readonly how: 'fin' | 'rst' | 'stall';
  /** Length of the whole body, in bytes, that the header announces. Without it, the body is sent in chunks. */
  readonly length?: number;
}

interface RawKeys {
  readonly status: number;
  /** Response body in base64url without padding. */
  readonly body?: string;
  readonly type?: string;
}

const STATUS = integer(200, 599);

const BODY: Key<string> = {
  wants: 'base64url without padding',
  form: { type: 'text', example: 'e30' },
  read: (text) => (Buffer.from(text, 'base64url').toString('base64url') === text ? text : undefined),
  schema: () => z.base64(),
};

const MEDIA_TYPE = pattern('a media type', /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w."-]+)*$/, 'text/plain');

/**
 * Matches headers that determine where a response ends. A raw response cannot set them, because the HTTP server derives
 * them from the body and a wrong value would break the connection.
 */
const FRAMING = /^(?:connection|content-length|keep-alive|trailer|transfer-encoding|upgrade)$/i;

function isHeader([name, value]: readonly [string, string]): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return !FRAMING.test(name);
  } catch {
    return false;
  }
}

const HOW = choice(['fin', 'rst', 'stall']);

export const raw: Kind<Raw, RawKeys> = {
  ...ANSWERING,
  about: 'responds with this status, media type and body',
  keys: {
    status: { about: 'HTTP status', ...STATUS },
    body: { about: 'Body of the response (default: empty)', ...BODY },
    type: { about: 'Header Content-Type (default: none)', ...MEDIA_TYPE },
  },
  needs: ['status'],
  ofKeys: ({ status, body, type }) => ({
    status,
    ...(type !== undefined && { headers: { 'content-type': type } }),
    ...(body !== undefined && { bodyBase64: Buffer.from(body, 'base64url').toString('base64') }),
  }),
  toKeys: ({ status, headers = {}, bodyBase64, cut }) => {
    const { 'content-type': type, ...others } = headers;
    if (Object.keys(others).length > 0 || cut !== undefined) return undefined;
    return {
      status,
      ...(bodyBase64 !== undefined && { body: Buffer.from(bodyBase64, 'base64').toString('base64url') }),
      ...(type !== undefined && { type }),
    };
  },
  schema: () =>
    strict({
      status: STATUS.schema(),
      headers: z
        .record(z.string(), z.string())
        .superRefine((value, context) => {
          const wrong = Object.entries(value).find((entry) => !isHeader(entry));
          if (!wrong) return;
          context.addIssue({ code: 'custom', message: `${JSON.stringify(wrong[0])} is not a header that can be set` });
        })
        .optional(),
      bodyBase64: BODY.schema().optional(),
      cut: strict({ how: HOW.schema(), length: COUNT.schema().optional() }).optional(),
    }),
};

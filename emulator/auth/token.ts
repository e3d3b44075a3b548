import { JsonError, type JsonIssue, MAX_DEPTH, readJson } from '../http/json-reader.js';
import { runSync } from '../schedule/steps.js';
import { type Algorithm, isAlgorithm } from './keys.js';
import { reject } from './rejection.js';

export type TokenType = 'JWT' | 'missing' | 'other';

/** A token taken apart. Nothing in it is proven before its signature is. */
export interface DecodedToken {
  readonly algorithm: Algorithm;
  readonly kid?: string;
  /** What `typ` says of itself; RFC 7519, 5.1 makes it optional. */
  readonly type: TokenType;
  readonly payload: Readonly<Record<string, unknown>>;
  /** As they were sent (RFC 7515, 7.2.2). */
  readonly parts: { readonly protected: string; readonly payload: string; readonly signature: string };
}

/** Longer than any header Node lets through. */
const MAX_TOKEN_LENGTH = 16 * 1024;

/**
 * Reads a JWT in compact form. RFC 7515, 3.1: three base64url parts without padding, joined by dots:
 * header, payload, signature. Throws a `Rejection` for whatever the specification's Token header does not allow.
 */
export function decodeToken(token: string): DecodedToken {
  if (token.length > MAX_TOKEN_LENGTH) throw reject('structure', 'it is too long');
  const parts = token.split('.');
  if (parts.length !== 3) throw reject('structure', 'it is not three parts joined by dots');
  const [header, payload, signature] = parts as [string, string, string];
  decodePart('signature', signature);
  return {
    ...readHeader(decodeObject('header', header)),
    payload: decodeObject('payload', payload),
    parts: { protected: header, payload, signature },
  };
}

/**
 * The header rules. `jku`, `x5u`, `jwk` and `x5c` are never looked at: keys come from the registry only.
 * RFC 7515, 4.1.11: a `crit` that is not understood makes the token invalid, and none is understood here.
 */
function readHeader(header: Record<string, unknown>): Pick<DecodedToken, 'algorithm' | 'kid' | 'type'> {
  const { alg, typ, kid } = header;
  if (!isAlgorithm(alg)) throw reject('algorithm', 'alg is none of ES256, ES384, ES512, RS256');
  if (Object.hasOwn(header, 'crit')) throw reject('critical', 'crit names extensions that are not understood');
  if (Object.hasOwn(header, 'b64') && header.b64 !== true) throw reject('critical', 'b64 is not supported');
  const read = { algorithm: alg, type: typeOf(typ) };
  if (kid === undefined) return read;
  if (typeof kid !== 'string') throw reject('key-id', 'kid is not a string');
  return { ...read, kid };
}

function typeOf(typ: unknown): TokenType {
  if (typ === undefined) return 'missing';
  return typeof typ === 'string' && typ.toUpperCase() === 'JWT' ? 'JWT' : 'other';
}

const JSON_FAULTS: Readonly<Record<JsonIssue, string>> = {
  encoding: 'it is not UTF-8',
  depth: `it is nested deeper than ${MAX_DEPTH}`,
  values: 'it has too many values',
  syntax: 'it is not JSON',
  members: 'it has too many members',
  repeated: 'a member is named twice',
};

/** A member that is named twice is refused: of two readers each might take another one. */
function decodeObject(name: string, part: string): Record<string, unknown> {
  const bytes = decodePart(name, part);
  let value: unknown;
  try {
    value = runSync(readJson(bytes, { unique: true }));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw reject('structure', `its ${name} cannot be read, ${JSON_FAULTS[error.issue]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw reject('structure', `its ${name} is not a JSON object`);
  }
  return value as Record<string, unknown>;
}

/** Node's decoder skips what it does not know, so the only proof of base64url is that it encodes to itself. */
function decodePart(name: string, part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw reject('structure', `its ${name} is not base64url`);
  return bytes;
}

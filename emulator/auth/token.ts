import { JsonError, type JsonIssue, MAX_DEPTH, readJson } from '../http/json-reader.js';
import { runSync } from '../schedule/steps.js';
import { type Algorithm, isAlgorithm } from './keys.js';
import { reject } from './rejection.js';

export type TokenType = 'JWT' | 'missing' | 'other';

/** Parsed token. Its signature has not been verified. */
export interface DecodedToken {
  readonly algorithm: Algorithm;
  readonly kid?: string;
  /** Header `typ`, which is optional (RFC 7519, 5.1). */
  readonly type: TokenType;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Encoded parts, as they were sent (RFC 7515, 7.2.2). */
  readonly parts: { readonly protected: string; readonly payload: string; readonly signature: string };
}

/** Maximum token length in characters. Node refuses larger headers by default. */
const MAX_TOKEN_LENGTH = 16 * 1024;

/**
 * Parses a JWT in compact form: header, payload and signature in base64url without padding, separated by dots (RFC
 * 7515, 3.1). Throws a `Rejection` for headers that the specification does not permit.
 */
export function decodeToken(token: string): DecodedToken {
  if (token.length > MAX_TOKEN_LENGTH) throw reject('structure', `it is longer than ${MAX_TOKEN_LENGTH} characters`);
  const parts = token.split('.');
  if (parts.length !== 3) throw reject('structure', 'it does not consist of three parts separated by dots');
  const [header, payload, signature] = parts as [string, string, string];
  decodePart('signature', signature);
  return {
    ...readHeader(decodeObject('header', header)),
    payload: decodeObject('payload', payload),
    parts: { protected: header, payload, signature },
  };
}

/**
 * Checks the header. `jku`, `x5u`, `jwk` and `x5c` are ignored, because keys come only from the registry. A `crit`
 * makes the token invalid, because no critical header is supported (RFC 7515, 4.1.11).
 */
function readHeader(header: Record<string, unknown>): Pick<DecodedToken, 'algorithm' | 'kid' | 'type'> {
  const { alg, typ, kid } = header;
  if (!isAlgorithm(alg)) throw reject('algorithm', 'alg must be ES256, ES384, ES512 or RS256');
  if (Object.hasOwn(header, 'crit')) throw reject('critical', 'critical headers (crit) are not supported');
  if (Object.hasOwn(header, 'b64') && header.b64 !== true) throw reject('critical', 'b64 must be true if present');
  const read = { algorithm: alg, type: typeOf(typ) };
  if (kid === undefined) return read;
  if (typeof kid !== 'string') throw reject('key-id', 'kid is not a string');
  return { ...read, kid };
}

function typeOf(typ: unknown): TokenType {
  if (typ === undefined) return 'missing';
  return typeof typ === 'string' && typ.toUpperCase() === 'JWT' ? 'JWT' : 'other';
}

const JSON_ISSUES: Readonly<Record<JsonIssue, string>> = {
  encoding: 'it is not UTF-8',
  depth: `it is nested deeper than ${MAX_DEPTH}`,
  values: 'it has too many values',
  syntax: 'it is not JSON',
  members: 'it has too many members',
  repeated: 'it has a repeated member',
};

/** Parses a JSON object. Repeated members are refused, because readers differ in which one counts. */
function decodeObject(name: string, part: string): Record<string, unknown> {
  const bytes = decodePart(name, part);
  let value: unknown;
  try {
    value = runSync(readJson(bytes, { unique: true }));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw reject('structure', `its ${name} cannot be read, because ${JSON_ISSUES[error.issue]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw reject('structure', `its ${name} is not a JSON object`);
  }
  return value as Record<string, unknown>;
}

/** Decodes base64url. Node's decoder skips invalid characters, so the result is encoded again and compared. */
function decodePart(name: string, part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw reject('structure', `its ${name} is not base64url`);
  return bytes;
}

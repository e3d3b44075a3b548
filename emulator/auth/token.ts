import { JsonError, type JsonIssue, MAX_DEPTH, MAX_MEMBERS, MAX_VALUES, readJson } from '../http/json-reader.js';
import { runSync } from '../schedule/steps.js';
import { type Algorithm, isAlgorithm } from './keys.js';
import { reject } from './rejection.js';

export type TokenType = 'JWT' | 'missing' | 'other';

/** Parsed token whose signature has not been verified yet. */
export interface DecodedToken {
  readonly algorithm: Algorithm;
  readonly kid?: string;
  /** Value of the header `typ`, which is optional (RFC 7519, 5.1). */
  readonly type: TokenType;
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * Parts of the token in base64url, exactly as the client sent them, because the signature covers these texts (RFC
   * 7515, 7.2.2).
   */
  readonly parts: { readonly protected: string; readonly payload: string; readonly signature: string };
}

/** Maximum length of a token in characters. Node refuses longer headers anyway by default. */
const MAX_TOKEN_LENGTH = 16 * 1024;

/**
 * Parses a JWT in compact form: header, payload and signature in base64url without padding, separated by dots (RFC
 * 7515, 3.1). Throws a `Rejection` if the form is wrong or the specification does not permit the header.
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
 * Checks the header of a token, and returns the members that the service uses. The members `jku`, `x5u`, `jwk` and
 * `x5c` name or contain a key. They are ignored, because only registered keys may verify tokens. A member `crit` makes
 * the token invalid, because no critical header is supported (RFC 7515, 4.1.11).
 */
function readHeader(header: Record<string, unknown>): Pick<DecodedToken, 'algorithm' | 'kid' | 'type'> {
  const { alg, typ, kid } = header;
  if (!isAlgorithm(alg)) throw reject('algorithm', 'its header member alg must be ES256, ES384, ES512 or RS256');
  if (Object.hasOwn(header, 'crit'))
    throw reject('critical', 'its header member crit (critical headers) is not supported');
  if (Object.hasOwn(header, 'b64') && header.b64 !== true)
    throw reject('critical', 'its header member b64 must be true or absent');
  const read = { algorithm: alg, type: typeOf(typ) };
  if (kid === undefined) return read;
  if (typeof kid !== 'string') throw reject('key-id', 'its header member kid is not a string');
  return { ...read, kid };
}

function typeOf(typ: unknown): TokenType {
  if (typ === undefined) return 'missing';
  return typeof typ === 'string' && typ.toUpperCase() === 'JWT' ? 'JWT' : 'other';
}

const JSON_ISSUES: Readonly<Record<JsonIssue, string>> = {
  encoding: 'it is not valid UTF-8',
  depth: `it is nested deeper than ${MAX_DEPTH} levels`,
  values: `it has more than ${MAX_VALUES} values`,
  syntax: 'it is not valid JSON',
  members: `it has an object with more than ${MAX_MEMBERS} members`,
  repeated: 'it has an object with the same member twice',
};

/**
 * Decodes a part of a token and parses it as a JSON object. Repeated members are refused, because JSON parsers disagree
 * which value counts.
 */
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

/**
 * Decodes base64url. Node's decoder skips invalid characters silently, so the result is encoded again and compared with
 * the input.
 */
function decodePart(name: string, part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) throw reject('structure', `its ${name} is not base64url`);
  return bytes;
}

import { createHmac } from 'node:crypto';
import type { OperationId } from '../config/operation-ids.js';
import type { CapturedBody } from './captured-body.js';

/** Replaces a secret, such as a token, in stored requests. */
export const REDACTED = '[redacted]';

/** Matches names of header fields whose values are completely secret. */
const SECRET_FIELD = /authorization|cookie|token|secret|password|credential|api-?key|x-auth/i;

/** Returns true if the value of the header field with this name is completely secret. */
export function isSecretField(name: string): boolean {
  return SECRET_FIELD.test(name);
}

interface SecretMembers {
  readonly request?: readonly string[];
  readonly response?: readonly string[];
}

/** Names of members in JSON bodies whose values are always secret, by operation. They apply at any depth. */
const SECRET_MEMBERS: Readonly<Partial<Record<OperationId, SecretMembers>>> = {
  createRepository: { request: ['auth', 'env'], response: ['env'] },
  updateRepository: { request: ['auth', 'env'], response: ['env'] },
  createCredential: { request: ['username', 'password'] },
  updateCredential: { request: ['username', 'password'] },
  updateCredentialByBody: { request: ['username', 'password'] },
  createDeployment: { request: ['env'], response: ['env'] },
  createWebhook: { request: ['secret'], response: ['secret'] },
  lfsBatch: { response: ['header'] },
  lfsVerifyObject: { response: ['header'] },
};

/** Stored request header, with its size in bytes. Equal headers of consecutive requests share one object. */
export interface KeptHead {
  /** Alternating names and values without secrets, in the format of Node's `rawHeaders`. */
  readonly fields: readonly string[];
  readonly weight: number;
}

export const NO_HEAD: KeptHead = { fields: [], weight: 0 };

/**
 * Returns the header fields without secrets. If they equal the fields of `last`, returns `last`: clients often repeat
 * the same fields, and comparing costs less than storing them again.
 */
export function keepHead(raw: readonly string[], last: KeptHead): KeptHead {
  if (isSame(raw, last.fields)) return last;
  const fields: string[] = [];
  let weight = 0;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!;
    const value = SECRET_FIELD.test(name) ? REDACTED : redactText(raw[at + 1]!);
    fields.push(name, value);
    weight += name.length + value.length;
  }
  return { fields, weight };
}

function isSame(raw: readonly string[], kept: readonly string[]): boolean {
  if (raw.length !== kept.length) return false;
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at] !== kept[at]) return false;
    const value = kept[at + 1]!;
    if (value !== raw[at + 1] && value !== REDACTED) return false;
  }
  return true;
}

/**
 * Matches a JWT (RFC 7519, section 3): base64url parts joined by dots. The first part encodes a JSON object, so it
 * begins with `eyJ`, the encoding of `{"`.
 */
const TOKEN = /eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g;
/**
 * Matches the user information in a URL, which may be a password (RFC 3986, section 3.2.1). It is the text before `@`
 * in the authority. Percent-encoded URLs match too.
 */
const USER_INFO = /(:\/\/|%3A%2F%2F)((?:(?!%2F|%3F|%23|%40)[^\s/?#@"'<>\\&])+)(@|%40)/gi;
/** Matches the credentials after the name of an authentication scheme such as `Bearer` (RFC 9110, section 11.4). */
const CREDENTIALS = /\b(bearer|basic)(\s+|%20|\+)(?!realm)[\w.~+/=-]{8,}/gi;

/** Texts with fewer characters are too short to contain a token. */
const SHORT = 30;

/** Returns `text` with tokens, credentials and user information of URLs redacted. */
export function redactText(text: string): string {
  if (text.length < SHORT && !text.includes('@') && !text.includes('%')) return text;
  const mayHold = text.includes('eyJ') || text.includes('@') || text.includes('%40') || /b(?:earer|asic)/i.test(text);
  if (!mayHold) return text;
  return text.replace(TOKEN, REDACTED).replace(USER_INFO, `$1${REDACTED}$3`).replace(CREDENTIALS, `$1$2${REDACTED}`);
}

/**
 * Matches query parameters whose values are secret. Pagination parameters such as `next_token` and `cursor` do not
 * match.
 */
const SECRET_PARAMETER =
  /((?:^|&)(?:(?:access|auth|id|refresh|private|api|session|security)[-_]?token|token|jwt|password|passwd|pwd|secret|client[-_]?secret|authorization|credentials?|api[-_]?key|signature|sig)=)[^&]*/gi;

/** Returns a query with its secrets redacted. */
export function redactQuery(query: string): string {
  return redactText(query).replace(SECRET_PARAMETER, `$1${REDACTED}`);
}

/** Operations whose responses contain secrets. */
export const SECRET_RESPONSES: ReadonlySet<string | undefined> = new Set(
  Object.entries(SECRET_MEMBERS).flatMap(([operation, { response }]) => (response ? [operation] : [])),
);

/** Returns the names of the members in the JSON bodies of an operation whose values are always secret. */
export function secretMembers(operation: string, side: keyof SecretMembers): readonly string[] {
  return SECRET_MEMBERS[operation as OperationId]?.[side] ?? [];
}

/**
 * Removes the secrets from a body before it is stored. Also records a digest of the original body, because two bodies
 * that differ only in a secret can become equal.
 */
export function redactBody(
  body: CapturedBody,
  operation: string | undefined,
  side: keyof SecretMembers,
  key: Buffer,
): void {
  const members = SECRET_MEMBERS[operation as OperationId]?.[side];
  const text = body.latin1;
  // Skips packs and archives. They are binary, so a pattern of a URL or token could match only by chance.
  if (text === '') return;
  if (members === undefined && (text.includes('\0') || redactText(text) === text)) return;
  const content = body.content();
  const digest = createHmac('sha256', key).update(content).digest('base64url').slice(0, 22);
  const shown = members === undefined ? content.toString() : withoutMembers(content.toString(), members);
  // If the body cannot be parsed, its secret members cannot be found, so the whole body is redacted.
  body.replace(shown === undefined ? REDACTED : redactText(shown), digest);
}

/**
 * Returns the JSON text with the values of `members` redacted; unchanged if it has none of them. Returns undefined if
 * the text is not a JSON object.
 */
function withoutMembers(text: string, members: readonly string[]): string | undefined {
  let hasSecret = false;
  const redact = (name: string, member: unknown): unknown => {
    if (!members.includes(name)) return member;
    hasSecret = true;
    return REDACTED;
  };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const redacted = JSON.stringify(value, redact);
    return hasSecret ? redacted : text;
  } catch {
    return undefined;
  }
}

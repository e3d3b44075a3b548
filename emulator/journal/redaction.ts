import { createHmac } from 'node:crypto';
import type { OperationId } from '../config/operation-ids.js';
import type { CapturedBody } from './captured-body.js';

/** What stands in place of a secret. */
export const REDACTED = '[redacted]';

/** Header fields whose whole value is a secret. */
const SECRET_FIELD = /authorization|cookie|token|secret|password|credential|api-?key|x-auth/i;

interface SecretMembers {
  readonly request?: readonly string[];
  readonly answer?: readonly string[];
}

/** Members of JSON bodies, at any depth, that are secrets whatever they hold; by operation. */
const SECRET_MEMBERS: Readonly<Partial<Record<OperationId, SecretMembers>>> = {
  createRepository: { request: ['auth', 'env'], answer: ['env'] },
  updateRepository: { request: ['auth', 'env'], answer: ['env'] },
  createCredential: { request: ['username', 'password'] },
  updateCredential: { request: ['username', 'password'] },
  updateCredentialByBody: { request: ['username', 'password'] },
  createDeployment: { request: ['env'], answer: ['env'] },
  createWebhook: { request: ['secret'], answer: ['secret'] },
  lfsBatch: { answer: ['header'] },
  lfsVerifyObject: { answer: ['header'] },
};

/** A head that is kept, and the bytes it takes. Heads that are alike are kept once. */
export interface KeptHead {
  /** Name, value, name, value … as Node's `rawHeaders`, without secrets. */
  readonly fields: readonly string[];
  readonly weight: number;
}

export const NO_HEAD: KeptHead = { fields: [], weight: 0 };

/**
 * The header fields of a request without their secrets. Where they are those of `last`, that one is given back: clients
 * send the same fields again and again, and to compare them costs less than to keep them.
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

/** RFC 7519, 3: a JWT is base64url parts joined by dots; the first is a JSON object, so it starts with `{"`. */
const TOKEN = /eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g;
/** RFC 3986, 3.2.1: user information stands before `@` in an authority, also where the URL is percent-encoded. */
const USER_INFO = /(:\/\/|%3A%2F%2F)((?:(?!%2F|%3F|%23|%40)[^\s/?#@"'<>\\&])+)(@|%40)/gi;
/** RFC 9110, 11.4: what follows the name of a scheme. */
const CREDENTIALS = /\b(bearer|basic)(\s+|%20|\+)(?!realm)[\w.~+/=-]{8,}/gi;

/** Shorter than any token. */
const SHORT = 30;

/** `text` without tokens, credentials and user information. */
export function redactText(text: string): string {
  if (text.length < SHORT && !text.includes('@') && !text.includes('%')) return text;
  const mayHold = text.includes('eyJ') || text.includes('@') || text.includes('%40') || /b(?:earer|asic)/i.test(text);
  if (!mayHold) return text;
  return text.replace(TOKEN, REDACTED).replace(USER_INFO, `$1${REDACTED}$3`).replace(CREDENTIALS, `$1$2${REDACTED}`);
}

/** Query parameters that are secrets by their name. `next_token`, `cursor` and the like are not among them. */
const SECRET_PARAMETER =
  /((?:^|&)(?:(?:access|auth|id|refresh|private|api|session|security)[-_]?token|token|jwt|password|passwd|pwd|secret|client[-_]?secret|authorization|credentials?|api[-_]?key|signature|sig)=)[^&]*/gi;

/** A query as it was sent, without what is secret in it. */
export function redactQuery(query: string): string {
  return redactText(query).replace(SECRET_PARAMETER, `$1${REDACTED}`);
}

/** Operations whose answers hold secrets. */
export const SECRET_ANSWERS: ReadonlySet<string | undefined> = new Set(
  Object.entries(SECRET_MEMBERS).flatMap(([operation, { answer: response }]) => (response ? [operation] : [])),
);

/** Takes the secrets out of a body that is to be kept. What is left may be the same for two secrets; its digest is not. */
export function redactBody(
  body: CapturedBody,
  operation: string | undefined,
  side: keyof SecretMembers,
  key: Buffer,
): void {
  const members = SECRET_MEMBERS[operation as OperationId]?.[side];
  const text = body.latin1;
  // Packs and archives are no text; nothing of a URL or a token is found in them but by chance.
  if (text === '') return;
  if (members === undefined && (text.includes('\0') || redactText(text) === text)) return;
  const content = body.content();
  const digest = createHmac('sha256', key).update(content).digest('base64url').slice(0, 22);
  const shown = members === undefined ? content.toString() : withoutMembers(content.toString(), members);
  // What cannot be read cannot be told from its secrets.
  body.replace(shown === undefined ? REDACTED : redactText(shown), digest);
}

/** JSON text with the values of `members` redacted; undefined when it is no JSON with members. */
function withoutMembers(text: string, members: readonly string[]): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return JSON.stringify(value, (name, member) => (members.includes(name) ? REDACTED : member));
  } catch {
    return undefined;
  }
}

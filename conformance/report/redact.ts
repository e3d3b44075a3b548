/** A JWT, whole or without its signature: it could be used until it expires. */
export const TOKEN = /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)?/g;
const BASIC = /\b(Basic) [A-Za-z0-9+/=]{16,}/gi;
/** RFC 3986, 3.2.1: what stands before the `@` of an authority. */
const USER_INFO = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"'<>]+@/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** The text without anything that could be used to sign in. */
export function redact(text: string): string {
  return text
    .replace(TOKEN, '<token>')
    .replace(BASIC, '$1 <credentials>')
    .replace(USER_INFO, '$1<credentials>@')
    .replace(PRIVATE_KEY, '<private key>');
}

/** The same bytes without any token. */
export function redactBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const shown = redact(text);
  return shown === text ? bytes : Buffer.from(shown, 'latin1');
}

/** Every text in a value of JSON, at any depth, without what could be used to sign in. */
export function redactValue<Value>(value: Value): Value {
  return redactMember(value) as Value;
}

function redactMember(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactMember);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), redactMember(member)]));
}

// The patterns below have maximum lengths, because the stack of the regular expression engine overflows when megabytes
// of text match. The suite's credentials are much shorter.
/**
 * Matches a JWT, with or without its signature. Reports must not show tokens, because a token can be used until it
 * expires.
 */
export const TOKEN = /eyJ[A-Za-z0-9_-]{8,16384}\.[A-Za-z0-9_-]{0,16384}(?:\.[A-Za-z0-9_-]{0,16384})?/g;
const BASIC = /\b(Basic) [A-Za-z0-9+/=]{16,16384}/gi;
/** Matches text that may be base64 and is long enough for a token. */
const BASE64 = /[A-Za-z0-9+/]{40,16384}={0,2}/g;
/** Matches the beginning of decoded Basic credentials whose password is a JWT. */
const USER_AND_TOKEN = /^[^:]*:eyJ/;
/** Matches user name and password in a URL, before the `@` (RFC 3986, section 3.2.1). */
const USER_INFO = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@"'<>]+@/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;

/** Replaces tokens, passwords and private keys in a text, for example by `<token>`. */
export function redact(text: string): string {
  return text
    .replace(TOKEN, '<token>')
    .replace(BASIC, '$1 <credentials>')
    .replace(BASE64, (encoded) => {
      const beginning = Buffer.from(encoded.slice(0, 64), 'base64').toString('latin1');
      return USER_AND_TOKEN.test(beginning) ? '<credentials>' : encoded;
    })
    .replace(USER_INFO, '$1<credentials>@')
    .replace(PRIVATE_KEY, '<private key>');
}

/** Replaces tokens, passwords and private keys in bytes, which may be binary data. */
export function redactBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const shown = redact(text);
  return shown === text ? bytes : Buffer.from(shown, 'latin1');
}

/** Replaces tokens, passwords and private keys in all strings of a JSON value, at any depth. */
export function redactValue<Value>(value: Value): Value {
  return redactMember(value) as Value;
}

function redactMember(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(redactMember);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [redact(name), redactMember(member)]));
}

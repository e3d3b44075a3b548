import { signal } from '@preact/signals';
import { markedText } from '../components/marked-text.js';

/** Admin token; undefined if none is needed. It is only in memory, so a reload asks for it again. */
export const adminToken = signal<string | undefined>(undefined);

/** True after the emulator refused a request because the token was missing. */
export const isTokenWanted = signal(false);

/** Headers that carry the admin token. */
export function authorization(): Record<string, string> {
  const token = adminToken.value;
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/**
 * Returns a typed admin token without surrounding white space. Throws if it contains a character that no token has,
 * because `fetch` refuses such a character in a header.
 */
export function readToken(typed: string): string {
  const token = typed.trim();
  const wrong = /[^\x21-\x7e]/u.exec(token)?.[0];
  if (wrong === undefined) return token;
  throw new Error(`An admin token has visible ASCII characters only; this one has "${markedText(wrong)}".`);
}

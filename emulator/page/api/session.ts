import { signal } from '@preact/signals';
import { markedText } from '../components/marked-text.js';

/**
 * Admin token that the user entered; undefined if none. It is only in memory, so the page asks for it again after a
 * reload.
 */
export const adminToken = signal<string | undefined>(undefined);

/** True after the emulator refused a request of the page because the admin token was missing. */
export const isTokenWanted = signal(false);

/** Returns the headers that send the admin token with a request; none if there is no token. */
export function authorization(): Record<string, string> {
  const token = adminToken.value;
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/**
 * Returns an admin token that the user typed, without surrounding white space. Throws if it contains a character that
 * is not visible ASCII. No token has such a character, and `fetch` would refuse it in a header with an unclear error.
 */
export function readToken(typed: string): string {
  const token = typed.trim();
  const wrong = /[^\x21-\x7e]/u.exec(token)?.[0];
  if (wrong === undefined) return token;
  throw new Error(`An admin token has visible ASCII characters only; this one has "${markedText(wrong)}".`);
}

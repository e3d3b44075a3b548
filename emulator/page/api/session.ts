import { signal } from '@preact/signals';
import { markedText } from '../components/marked-text.js';

/**
 * Admin token (password of the admin API) that the user entered; undefined if none. It is kept only in memory, so the
 * user must enter it again after a reload of the page.
 */
export const adminToken = signal<string | undefined>(undefined);

/**
 * True after the emulator refused a request of the page with 401, because the admin token was missing or wrong. The
 * page then shows a form for the token instead of its usual content.
 */
export const isTokenWanted = signal(false);

/** Returns the request header with the admin token; an empty object if the user has entered no token. */
export function authorization(): Record<string, string> {
  const token = adminToken.value;
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/**
 * Returns the typed admin token without surrounding white space. Throws an error if it contains a character that is not
 * visible ASCII. No token contains such a character, and `fetch` would refuse it in a header with an unclear error.
 */
export function readToken(typed: string): string {
  const token = typed.trim();
  const wrong = /[^\x21-\x7e]/u.exec(token)?.[0];
  if (wrong === undefined) return token;
  throw new Error(`An admin token has visible ASCII characters only; this one has "${markedText(wrong)}".`);
}

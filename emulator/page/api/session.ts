import { signal } from '@preact/signals';
import { markedText } from '../components/marked-text.js';

/** The admin token, where one is asked for. It is kept in memory only: a reload asks again. */
export const adminToken = signal<string | undefined>(undefined);

/** Whether the emulator has refused for want of the token. */
export const isTokenWanted = signal(false);

/** The headers that show the token. */
export function authorization(): Record<string, string> {
  const token = adminToken.value;
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/**
 * Returns an admin token as it was typed, without the white space around it. Throws if it has a character that no token has:
 * `fetch` refuses to put such a character into a header.
 */
export function readToken(typed: string): string {
  const token = typed.trim();
  const wrong = /[^\x21-\x7e]/u.exec(token)?.[0];
  if (wrong === undefined) return token;
  throw new Error(`An admin token has visible ASCII characters only; this one has "${markedText(wrong)}".`);
}

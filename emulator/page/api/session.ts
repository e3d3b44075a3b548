import { signal } from '@preact/signals';

/** The admin token, where one is asked for. It is kept in memory only: a reload asks again. */
export const adminToken = signal<string | undefined>(undefined);

/** Whether the emulator has refused for want of the token. */
export const isTokenWanted = signal(false);

/** The headers that show the token. */
export function authorization(): Record<string, string> {
  const token = adminToken.value;
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

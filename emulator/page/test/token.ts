import { admin } from './admin-request.js';
import type { Started } from './browser.js';

/** Asks the emulator for a token with these claims, signed with a test key. */
export async function mint(emulator: Started, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const { token } = (await admin(emulator, 'POST', 'tokens', claims)) as { token: string };
  return token;
}

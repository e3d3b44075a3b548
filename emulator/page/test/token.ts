import { admin } from './admin-request.js';
import type { Started } from './browser.js';

/** Requests a token with these claims from the emulator, which signs it with a test key. */
export async function mint(emulator: Started, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const { token } = (await admin(emulator, 'POST', 'tokens', claims)) as { token: string };
  return token;
}

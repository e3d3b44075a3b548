import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../config/loopback.js';
import type { EmulatorOptions } from '../config/options.js';

export interface ProvidedAdminToken {
  /** Undefined: the admin routes ask for none. */
  readonly token: string | undefined;
  /** Where it can be read, if it was made here. */
  readonly file: string | undefined;
  /** Removes the file. */
  withdraw(): Promise<void>;
}

/**
 * The token of `--admin-token`; where there is none and other machines reach the emulator, one that only this user's
 * processes can read. It comes from the system, not from the seed: who knows the seed must not know it.
 */
export async function provideAdminToken({
  adminToken,
  host,
}: Pick<EmulatorOptions, 'adminToken' | 'host'>): Promise<ProvidedAdminToken> {
  if (adminToken !== undefined || isLoopback(host)) {
    return { token: adminToken, file: undefined, withdraw: async () => undefined };
  }
  const token = randomBytes(32).toString('base64url');
  // mkdtemp(3) makes it with mode 0700.
  const folder = await mkdtemp(join(tmpdir(), 'repohost-emulator-'));
  const file = join(folder, 'admin-token');
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return { token, file, withdraw: () => rm(folder, { recursive: true, force: true }) };
}

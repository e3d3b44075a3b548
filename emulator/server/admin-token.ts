import { randomBytes } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../config/loopback.js';
import type { EmulatorOptions } from '../config/options.js';
import { isOwnerAlive, ownerOf } from '../system/process-owner.js';

/** Start of the names of folders with an admin token. The host tells apart containers that share the folder for temporary files. */
const PREFIX = `repohost-emulator-${hostname().replaceAll(/[^\w.]/g, '_')}-`;

/** Removes the folders with the admin tokens of processes of this user that were killed. */
export async function removeStaleTokens(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const owner = name.startsWith(PREFIX) && /^(\d+(?:\.\d+)?)-.{6}$/.exec(name.slice(PREFIX.length))?.[1];
    if (!owner || isOwnerAlive(owner.replace('.', ' '))) continue;
    const folder = join(tmpdir(), name);
    const found = await lstat(folder).catch(() => undefined);
    // Another user's is neither ours to remove nor to trust.
    if (found?.isDirectory() && found.uid === process.getuid?.())
      await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

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
    const removed = removeStaleTokens();
    return { token: adminToken, file: undefined, withdraw: () => removed };
  }
  const token = randomBytes(32).toString('base64url');
  await removeStaleTokens();
  // mkdtemp(3) makes it with mode 0700.
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${ownerOf(process.pid).replace(' ', '.')}-`));
  const file = join(folder, 'admin-token');
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return { token, file, withdraw: () => rm(folder, { recursive: true, force: true }) };
}

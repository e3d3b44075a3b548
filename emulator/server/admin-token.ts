import { randomBytes } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../config/loopback.js';
import type { EmulatorOptions } from '../config/options.js';
import { isOwnerAlive, ownerOf } from '../system/process-owner.js';

/**
 * Prefix of the names of folders with an admin token. Contains the host name, because containers can share the folder
 * for temporary files.
 */
const PREFIX = `repohost-emulator-${hostname().replaceAll(/[^\w.]/g, '_')}-`;

/** Removes the admin token folders that killed processes of this user have left behind. */
export async function removeStaleTokens(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const owner = name.startsWith(PREFIX) && /^(\d+(?:\.\d+)?)-.{6}$/.exec(name.slice(PREFIX.length))?.[1];
    if (!owner || isOwnerAlive(owner.replace('.', ' '))) continue;
    const folder = join(tmpdir(), name);
    const found = await lstat(folder).catch(() => undefined);
    // Skip folders of other users, because they can be neither removed nor trusted.
    if (found?.isDirectory() && found.uid === process.getuid?.())
      await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

export interface ProvidedAdminToken {
  /** Undefined if the admin routes require no token. */
  readonly token: string | undefined;
  /** Path of the file with the token; undefined if the token was not generated. */
  readonly file: string | undefined;
  /** Removes the file. */
  remove(): Promise<void>;
}

/**
 * Returns the token of `--admin-token`. Without this option, generates a token if other machines can reach the
 * emulator, and writes it to a file that only this user can read. The token is random and not derived from the seed, so
 * that a client who knows the seed does not know the token.
 */
export async function provideAdminToken({
  adminToken,
  host,
}: Pick<EmulatorOptions, 'adminToken' | 'host'>): Promise<ProvidedAdminToken> {
  if (adminToken !== undefined || isLoopback(host)) {
    const removed = removeStaleTokens();
    return { token: adminToken, file: undefined, remove: () => removed };
  }
  const token = randomBytes(32).toString('base64url');
  await removeStaleTokens();
  // mkdtemp(3) creates the folder with mode 0700.
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${ownerOf(process.pid).replace(' ', '.')}-`));
  const file = join(folder, 'admin-token');
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return { token, file, remove: () => rm(folder, { recursive: true, force: true }) };
}

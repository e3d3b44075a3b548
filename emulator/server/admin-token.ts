import { randomBytes } from 'node:crypto';
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../config/loopback.js';
import type { EmulatorOptions } from '../config/options.js';
import { isOwnerAlive, ownerOf } from '../system/process-owner.js';

/**
 * Prefix of temporary folders that contain an admin token (required by the admin API). The rest of the name is a
 * process id, which is unique only within a host. The prefix contains the host name, because several containers can
 * share one folder for temporary files.
 */
const PREFIX = `repohost-emulator-${hostname().replaceAll(/[^\w.]/g, '_')}-`;

/** Removes folders with admin tokens that this user's killed processes left behind. */
export async function removeStaleTokens(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const owner = name.startsWith(PREFIX) && /^(\d+(?:\.\d+)?)-.{6}$/.exec(name.slice(PREFIX.length))?.[1];
    if (!owner || isOwnerAlive(owner.replace('.', ' '))) continue;
    const folder = join(tmpdir(), name);
    const found = await lstat(folder).catch(() => undefined);
    // Folders of other users are skipped. This user cannot remove them, and must not trust them.
    if (found?.isDirectory() && found.uid === process.getuid?.())
      await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

export interface ProvidedAdminToken {
  /** Admin token; undefined if the admin API (which controls the emulator) requires no token. */
  readonly token: string | undefined;
  /** Path of the file with the generated token; undefined if no token was generated. */
  readonly file: string | undefined;
  /** Removes the file with the token. Called at the end of the process. */
  remove(): Promise<void>;
}

/**
 * Returns the token that the admin API (which controls the emulator) requires. It is the token of `--admin-token` if
 * given. Otherwise a token is generated if other machines can reach the emulator. A generated token is written to a
 * file that only this user can read. It is random, so that a client who knows the seed cannot compute it.
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
  // mkdtemp(3) creates the folder with mode 0700, so no mode is needed.
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${ownerOf(process.pid).replace(' ', '.')}-`));
  const file = join(folder, 'admin-token');
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return { token, file, remove: () => rm(folder, { recursive: true, force: true }) };
}

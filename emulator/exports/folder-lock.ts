import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SourceError } from '../sources/file-tree.js';
import { isOwnerAlive, ownerOf } from '../system/process-owner.js';

const NAME = 'lock';

/** Exclusive lock of a folder. */
export interface FolderLock {
  /** True if the process that held the lock before was killed. */
  readonly wasStale: boolean;
  /** Releases the lock. */
  release(): Promise<void>;
}

/**
 * Locks a folder for this process. Ignores the lock of a process that has ended. Throws `SourceError` if another
 * process holds it.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const path = join(folder, NAME);
  const own = ownerOf(process.pid);
  let wasStale = false;
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await file.writeFile(`${own}\n`);
      } finally {
        await file.close();
      }
      const release = async () => {
        if ((await readFile(path, 'utf8').catch(() => '')).trim() === own) await rm(path, { force: true });
      };
      return { wasStale, release };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = (await readFile(path, 'utf8').catch(() => undefined))?.trim();
    if (owner === undefined) continue;
    // A lock file that is being written is empty.
    if (isOwnerAlive(owner)) throw new SourceError(`${folder} is in use by the process ${owner.split(' ', 1)[0]}.`);
    if (owner === '' && attempt < 5) await new Promise((resolve) => setTimeout(resolve, 20));
    else {
      await removeStale(path, owner);
      wasStale = true;
    }
  }
  throw new SourceError(`${folder} cannot be locked.`);
}

/** Removes a stale lock. It is renamed first, so that only one of two processes that found it removes it. */
async function removeStale(path: string, owner: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => {});
  const found = (await readFile(aside, 'utf8').catch(() => undefined))?.trim();
  // Another process had already replaced the lock.
  if (found !== undefined && found !== owner) await rename(aside, path);
  else await rm(aside, { force: true });
}

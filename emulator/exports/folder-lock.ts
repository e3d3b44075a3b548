import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SourceError } from '../sources/file-tree.js';
import { isOwnerAlive, ownerOf } from '../system/process-owner.js';

const NAME = 'lock';

/** Exclusive lock of a folder for one process. It is a file with the name `lock`. */
export interface FolderLock {
  /**
   * True if a lock file of an ended process was found. That process was killed, because it did not release the lock.
   */
  readonly wasStale: boolean;
  /** Removes the lock file, so that another process can lock the folder. */
  release(): Promise<void>;
}

/**
 * Locks a folder for this process. Replaces the lock file of a process that has ended. Throws `SourceError` if a
 * running process has locked the folder.
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
    // An empty lock file is not considered stale at once. Another process may have just created it and not yet written
    // its id.
    if (isOwnerAlive(owner))
      throw new SourceError(
        `${folder} is in use by another emulator (process ${owner.split(' ', 1)[0]}). Stop it, or use another folder.`,
      );
    if (owner === '' && attempt < 5) await new Promise((resolve) => setTimeout(resolve, 20));
    else {
      await removeStale(path, owner);
      wasStale = true;
    }
  }
  throw new SourceError(`${folder} cannot be locked, because other processes keep locking it. Try again.`);
}

/**
 * Removes the lock file of an ended process. First renames the file to a name that belongs to this process. If two
 * processes find the same file, only one of them removes it.
 */
async function removeStale(path: string, owner: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => {});
  const found = (await readFile(aside, 'utf8').catch(() => undefined))?.trim();
  // If the renamed file names another owner, another process has created a new lock in the meantime. The file is put
  // back.
  if (found !== undefined && found !== owner) await rename(aside, path);
  else await rm(aside, { force: true });
}

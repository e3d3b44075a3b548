import { readFileSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SourceError } from '../sources/file-tree.js';
import { isAlive } from './state-directory.js';

const NAME = 'lock';

/** Which process it is: its id, and where the system tells, when it began, because ids are used again. */
function ownerOf(pid: number): string {
  try {
    // proc(5): the fields behind the name, which may hold anything but ends with the last parenthesis.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
    return `${pid} ${fields[19]}`;
  } catch {
    return `${pid}`;
  }
}

/**
 * Takes a folder for this process alone; returns what gives it back. A lock of a process that has ended, however, is
 * none. Throws `SourceError` while another process has it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, NAME);
  const own = ownerOf(process.pid);
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await file.writeFile(`${own}\n`);
      } finally {
        await file.close();
      }
      return async () => {
        if ((await readFile(path, 'utf8').catch(() => '')).trim() === own) await rm(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = (await readFile(path, 'utf8').catch(() => undefined))?.trim();
    if (owner === undefined) continue;
    // One that is being written just now is empty.
    const pid = Number(owner.split(' ', 1)[0]);
    if (owner !== '' && pid > 0 && isAlive(pid) && ownerOf(pid) === owner) {
      throw new SourceError(`${folder} is in use by the process ${pid}.`);
    }
    if (owner === '' && attempt < 5) await new Promise((resolve) => setTimeout(resolve, 20));
    else await removeStale(path, owner);
  }
  throw new SourceError(`${folder} cannot be locked.`);
}

/** Under another name first: of two processes that found it stale one has it then. */
async function removeStale(path: string, owner: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => {});
  const found = (await readFile(aside, 'utf8').catch(() => undefined))?.trim();
  // It was another's by then.
  if (found !== undefined && found !== owner) await rename(aside, path);
  else await rm(aside, { force: true });
}

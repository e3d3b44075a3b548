import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type ReadAddress, readAddress, readyMembers } from '../admin/address-members.js';
import type { Emulator } from '../index.js';
import { readTextFile } from '../system/text-file.js';
import { UsageError } from './usage-error.js';

/** What scripts wait for: one line of JSON that says where everything is. */
export function readyLine(emulator: Emulator, pid: number): string {
  const { adminTokenFile: file } = emulator;
  const members = { ...readyMembers(emulator), ...(file !== undefined && { admin_token_file: file }) };
  return `${JSON.stringify({ event: 'ready', ...members, pid })}\n`;
}

/**
 * A script that waits for the file must not find that of an earlier run. What is no file, such as a folder or `/dev/full`,
 * is neither removed nor replaced. Throws `UsageError`.
 */
export async function clearReady(file: string): Promise<void> {
  await saying(async () => {
    const found = await stat(file).catch(ignoreAbsent);
    if (found && !found.isFile()) throw new Error(`${file} is no regular file`);
    await rm(file, { force: true });
  });
}

/**
 * Creates the file with the whole line in it, for this user only. The line is written under another name first, which nobody
 * can guess, and the file then gets its name as a hard link. Neither follows a symbolic link or replaces a file. Throws
 * `UsageError`.
 */
export async function publishReady(file: string, line: string): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  await saying(async () => {
    try {
      await writeFile(draft, line, { flag: 'wx', mode: 0o600 });
      await link(draft, file).catch(async (error: NodeJS.ErrnoException) => {
        // Some file systems have no hard links. A rename replaces a link, and does not follow it.
        if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(error.code ?? '')) throw error;
        await rename(draft, file);
      });
    } finally {
      await rm(draft, { force: true }).catch(() => {});
    }
  });
}

/** Removes the file again, unless it has become another emulator's. */
export async function withdrawReady(file: string, line: string): Promise<void> {
  try {
    if ((await readFile(file, 'utf8')) === line) await rm(file);
  } catch {
    // The emulator stops all the same; the process id in the file tells that it has ended.
  }
}

/** What a ready file says to those who wait. */
export interface Ready extends ReadAddress {
  readonly pid: number;
  readonly keyFile: string | undefined;
  readonly adminTokenFile: string | undefined;
}

/** Undefined while there is none that can be read. */
export async function readReady(file: string): Promise<Ready | undefined> {
  try {
    const line = JSON.parse(readTextFile(file)) as Record<string, unknown>;
    const textOf = (name: string) => (typeof line[name] === 'string' ? line[name] : undefined);
    const address = readAddress(line);
    if (address && Number.isSafeInteger(line.pid)) {
      return {
        ...address,
        pid: Number(line.pid),
        keyFile: textOf('key_file'),
        adminTokenFile: textOf('admin_token_file'),
      };
    }
  } catch {
    // It may still come.
  }
  return undefined;
}

async function saying(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw new UsageError(`The ready file cannot be written: ${(error as Error).message}.`);
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

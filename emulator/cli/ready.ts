import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type ReadAddress, readAddress, readyMembers } from '../admin/address-members.js';
import type { Emulator } from '../index.js';
import { readTextFile } from '../system/text-file.js';
import { UsageError } from './usage-error.js';

/** Returns the ready line for scripts: one line of JSON with all addresses of a started emulator. */
export function readyLine(emulator: Emulator, pid: number): string {
  const { adminTokenFile: file } = emulator;
  const members = { ...readyMembers(emulator), ...(file !== undefined && { admin_token_file: file }) };
  return `${JSON.stringify({ event: 'ready', ...members, pid })}\n`;
}

/**
 * Removes the ready file of an earlier run, so that a waiting script does not read it. A ready file contains the
 * addresses of a started emulator. Throws `UsageError` if the path is not a regular file, for example a folder or
 * `/dev/full`.
 */
export async function clearReady(file: string): Promise<void> {
  await saying(async () => {
    const found = await stat(file).catch(ignoreAbsent);
    if (found && !found.isFile()) throw new Error(`${file} is not a regular file`);
    await rm(file, { force: true });
  });
}

/**
 * Creates the ready file, which contains the addresses of a started emulator, atomically. Only this user can read it.
 * The line is first written to a file with a random name, and the final name is then linked to this file. Neither step
 * follows a symbolic link or replaces a file. Throws `UsageError` on failure.
 */
export async function publishReady(file: string, line: string): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  await saying(async () => {
    try {
      await writeFile(draft, line, { flag: 'wx', mode: 0o600 });
      await link(draft, file).catch(async (error: NodeJS.ErrnoException) => {
        // Renames the file if the file system has no hard links. A rename replaces a symbolic link instead of following
        // it.
        if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(error.code ?? '')) throw error;
        await rename(draft, file);
      });
    } finally {
      await rm(draft, { force: true }).catch(() => {});
    }
  });
}

/** Removes this emulator's ready file. Keeps a file with other content, because another emulator wrote it. */
export async function withdrawReady(file: string, line: string): Promise<void> {
  try {
    if ((await readFile(file, 'utf8')) === line) await rm(file);
  } catch {
    // Ignores the error. Scripts can tell from the process id in the file that the emulator has ended.
  }
}

/** Content of a ready file: the addresses, process id and key files of a started emulator. */
export interface Ready extends ReadAddress {
  readonly pid: number;
  readonly keyFile: string | undefined;
  readonly adminTokenFile: string | undefined;
}

/** Reads the ready file of a started emulator. Returns undefined if the file is missing or incomplete. */
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
    // Ignores the error. The file may be missing or not completely written yet, and the caller tries again.
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

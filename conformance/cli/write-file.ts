import { randomBytes } from 'node:crypto';
import { open, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { reasonOf } from '../target/text-file.js';
import { UsageError } from './usage-error.js';

/** Returns the reason why a file cannot be written, as text for the user. */
function why(error: unknown): string {
  return reasonOf(error, { ENOENT: 'no such folder' });
}

/** Thrown if a file could not be written. A regular file then keeps its previous content. */
export class Unwritten extends Error {
  override readonly name = 'Unwritten';
}

/**
 * Returns the path to write to. Symbolic links are resolved, so that the write replaces the linked file and not the
 * link.
 *
 * - `isSpecial`: true if the file exists and is not a regular file, for example a pipe or a device.
 * - `mode`: permission bits of the existing file.
 */
async function placeOf(file: string): Promise<{ readonly path: string; readonly isSpecial: boolean; mode?: number }> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return { path: join(await realpath(dirname(file)), basename(file)), isSpecial: false };
  if (found.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
  // A pipe or a device must be written to directly. Replacing it by a regular file would remove it.
  return { path: await realpath(file), isSpecial: !found.isFile(), mode: found.mode & 0o777 };
}

function temporary(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(4).toString('hex')}.tmp`);
}

/**
 * Checks that a file can be written by creating and removing a temporary file in its folder. Commands call it before
 * their work, so that the user learns of a wrong name at once. Throws `UsageError`, which names the flag.
 */
export async function checkWritable(file: string, flag: string): Promise<void> {
  try {
    const { path, isSpecial } = await placeOf(file);
    if (isSpecial) return;
    const made = temporary(path);
    await (await open(made, 'wx')).close();
    await unlink(made);
  } catch (error) {
    throw new UsageError(`${flag} cannot be written: ${file}: ${why(error)}`);
  }
}

/**
 * Writes a regular file atomically. The text goes to a temporary file, which replaces the previous file once the text
 * is on disk. A pipe or a device is written directly. If the write fails, removes the temporary file and throws
 * `Unwritten`.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  let made: string | undefined;
  try {
    const { path, isSpecial, mode = 0o666 } = await placeOf(file);
    if (isSpecial) return await writeFile(path, text);
    made = temporary(path);
    await writeFile(made, text, { flag: 'wx', mode, flush: true });
    await rename(made, path);
  } catch (error) {
    if (made !== undefined) await unlink(made).catch(() => undefined);
    throw new Unwritten(`${file} cannot be written: ${why(error)}; the file was not changed`);
  }
}

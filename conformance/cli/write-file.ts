import { randomBytes } from 'node:crypto';
import { open, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { reasonOf } from '../target/text-file.js';
import { UsageError } from './usage-error.js';

/** Why a file cannot be written, in words. */
function why(error: unknown): string {
  return reasonOf(error, { ENOENT: 'there is no such folder' });
}

/** A file that could not be written after all: what it held before is still there. */
export class Unwritten extends Error {
  override readonly name = 'Unwritten';
}

/** Where a name leads: links are followed, so that they stay what they are. */
async function placeOf(file: string): Promise<{ readonly path: string; readonly isSpecial: boolean; mode?: number }> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return { path: join(await realpath(dirname(file)), basename(file)), isSpecial: false };
  if (found.isDirectory()) throw Object.assign(new Error('EISDIR'), { code: 'EISDIR' });
  // A device or a pipe cannot be replaced by a file.
  return { path: await realpath(file), isSpecial: !found.isFile(), mode: found.mode & 0o777 };
}

function temporary(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 200)}.${randomBytes(4).toString('hex')}.tmp`);
}

/** A mistake in a name should not come to light after a run. Throws `UsageError`, with the flag that names the file. */
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
 * Writes a file as a whole: what it held before stays until the new text is on the disk. Throws `Unwritten`; then
 * nothing is left behind.
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
    throw new Unwritten(`${file} cannot be written: ${why(error)}; nothing of it was changed`);
  }
}

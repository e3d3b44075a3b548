import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NAMED_BY_CONTENT } from './code-cache.js';

/**
 * Replaces the files of the folder `old` by those of the folder `made`, and removes `made`.
 *
 * A command that starts from the folder in the meantime works. Every file exists at all times in its old or new
 * version, and a file is replaced only after the files that it loads.
 */
export async function replaceFolder(old: string, made: string): Promise<void> {
  const files = await filesBelow(made);
  const parts = files.filter((file) => NAMED_BY_CONTENT.test(file));
  const entries = files.filter((file) => !NAMED_BY_CONTENT.test(file));
  for (const file of [...parts, ...entries]) {
    await mkdir(dirname(join(old, file)), { recursive: true });
    await rename(join(made, file), join(old, file));
  }
  const kept = new Set(files);
  for (const file of await filesBelow(old)) if (!kept.has(file)) await rm(join(old, file), { force: true });
  await rm(made, { recursive: true });
}

async function filesBelow(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name).slice(folder.length));
}

import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NAMED_BY_CONTENT } from './code-cache.js';

/**
 * Replaces the files of a folder with those of another folder, and removes the other folder. Every file exists at all
 * times, in its old or new version, and the files that it loads are replaced before it. A command that starts meanwhile
 * therefore works.
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

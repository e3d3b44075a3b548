import { chmod, lstat, mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { Meter } from '../schedule/meter.js';
import { Schedule } from '../schedule/schedule.js';
import { SourceError } from '../sources/file-tree.js';
import { MANIFEST } from '../sources/open-source.js';
import { isAlive } from '../system/process-owner.js';
import { DRAFT, FOLDER_MODE, FolderWrites } from './folder-writes.js';
import { digestIn } from './read-json.js';
import { FORMAT, VERSION } from './schema.js';
import type { TarEntry } from './tar.js';

/**
 * Writes an export (saved state of the emulator) to a folder atomically. A reader always finds the previous or the new
 * state, even if this process was killed. Rejects with `SourceError` if writing fails; the previous state then remains.
 *
 * The order is: files named after their content hash, which change nothing; the manifest, which is replaced by a
 * rename; files that only Git reads; removal of unreferenced files. A new folder is created under another name and
 * renamed. `progress` is called with the number of bytes just written.
 */
export async function saveState(
  folder: string,
  files: AsyncIterable<TarEntry>,
  progress?: (bytes: number) => void,
): Promise<void> {
  const target = resolve(folder);
  try {
    if (await isThere(target)) {
      await requireOwn(target);
      await fill(target, files, progress);
      return;
    }
    const draft = `${target}.${process.pid}${DRAFT}`;
    await removeDrafts(target);
    try {
      await mkdir(dirname(target), { recursive: true });
      await mkdir(draft, { mode: FOLDER_MODE });
      await fill(draft, files, progress);
      await rename(draft, target);
      await syncFolder(dirname(target));
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  } catch (error) {
    throw writeError(folder, error);
  }
}

/**
 * Converts an error of the file system to a `SourceError` with a message for the user. Returns other errors unchanged.
 */
export function writeError(folder: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof syscall !== 'string') return error;
  const why = code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : `${syscall} ${code}`;
  return new SourceError(`${folder} cannot be written: ${why}. Its previous content was kept.`);
}

async function isThere(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return true;
    throw new SourceError(`${path} is not a folder.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Removes incomplete copies of the folder `target` that killed processes have left (`<target>.<process id>.new`). */
async function removeDrafts(target: string): Promise<void> {
  const parent = dirname(target);
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const path = join(parent, name);
    const pid = path.startsWith(`${target}.`) ? /^(\d+)\.new$/.exec(path.slice(target.length + 1))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) await rm(path, { recursive: true, force: true });
  }
}

/** Options with which `readdir` lists everything below a folder at any depth. It does not follow symbolic links. */
const WHOLE = { withFileTypes: true, recursive: true } as const;

/**
 * Throws `SourceError` if a folder contains anything but a saved state of this format version. Foreign files are thus
 * never overwritten.
 */
export async function requireOwn(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(
    (name) => !name.startsWith('lock') && !name.endsWith(DRAFT) && name !== 'lost+found',
  );
  if (names.length === 0) return;
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) {
    // Without a manifest, accepts a folder only if it contains nothing but folders of organizations, and lists. A
    // process that was killed during its first save leaves such a folder.
    const others = names.filter((name) => digestIn('list', name) === undefined);
    const found = await Promise.all(others.map((name) => lstat(join(folder, name))));
    const isLeftOver = found.every((each, at) => each.isDirectory() && /^[a-z0-9-]+$|^%/.test(others[at]!));
    const listed = isLeftOver ? await Promise.all(others.map((name) => readdir(join(folder, name), WHOLE))) : [];
    const files = listed.flat().filter((entry) => !entry.isDirectory());
    if (isLeftOver && files.every(({ parentPath, name }) => /\.git(?:[/\\]|$)/.test(join(parentPath, name)))) return;
    throw new SourceError(
      `${folder} is not empty and contains no export of an emulator, so it was not changed. Use an empty or new folder.`,
    );
  }
  let manifest: { format?: unknown; version?: unknown } = {};
  try {
    manifest = JSON.parse(text) as typeof manifest;
  } catch {
    // A file that is not JSON is refused by the next statement, like a manifest of another format.
  }
  if (manifest?.format !== FORMAT || manifest.version !== VERSION) {
    throw new SourceError(
      `${folder} contains an export of version ${JSON.stringify(manifest?.version)}, but only ${VERSION} is supported. It was not changed.`,
    );
  }
}

/**
 * Matches the files that are replaced last: the manifest, and files that only Git reads. All other files are named
 * after their content hash.
 */
const LATE = /^emulator\.json$|\.git\/(?:HEAD|config|packed-refs)$/;

async function fill(folder: string, files: AsyncIterable<TarEntry>, progress?: (bytes: number) => void): Promise<void> {
  await chmod(folder, FOLDER_MODE);
  const kept = new Set<string>([MANIFEST]);
  const late: string[] = [];
  const folders = new Set<string>();
  const writes = new FolderWrites(folder, folders, () => false, new Meter({ schedule: new Schedule() }));
  try {
    for await (const { path, size, content } of files) {
      const name = path.replace(/\/$/, '');
      const isFolder = name !== path;
      const isLate = LATE.test(path);
      kept.add(name);
      writes.makeFolder(isFolder ? name : dirname(name));
      if (isFolder || (!isLate && (await isWhole(join(folder, name), size)))) continue;
      if (isLate) late.push(name);
      await writes.write(name + DRAFT, content(), progress);
      if (!isLate) writes.rename(name + DRAFT, name);
    }
    if (!late.includes(MANIFEST)) throw new SourceError('The export is incomplete, so nothing was changed.');
    for (const each of [folder, ...folders]) await syncFolder(each);
    // Renaming the manifest makes the new state valid. Its files are kept, because a later error must not remove them.
    writes.rename(MANIFEST + DRAFT, MANIFEST);
    writes.keep();
    for (const name of late) if (name !== MANIFEST) writes.rename(name + DRAFT, name);
    for (const each of [folder, ...folders]) await syncFolder(each);
  } catch (error) {
    // Removes the written files to free space: on a full disk, the previous state may still be needed.
    writes.undo();
    throw error;
  }
  await prune(folder, kept);
}

async function isWhole(path: string, size: number): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() === true && found.size === size;
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch {
    // Ignores the error, because some file systems cannot sync folders.
  } finally {
    await handle.close();
  }
}

/**
 * Cleans the folder of a saved state. Removes lists, drafts, and files in the folders of repositories, except those in
 * `kept`; then removes empty folders. `kept` contains paths relative to the folder.
 */
export async function prune(folder: string, kept: ReadonlySet<string>): Promise<void> {
  const folders: string[] = [];
  for (const entry of await readdir(folder, WHOLE)) {
    const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/');
    if (entry.isDirectory()) folders.push(path);
    else if (isOurs(path) && !(kept.has(path) && !isRef(path))) await rm(join(folder, path), { force: true });
  }
  // Removes folders in reverse order, so that nested folders come before their parents.
  for (const path of folders.reverse()) if (!kept.has(path)) await rmdir(join(folder, path)).catch(() => {});
}

/** Returns true if a save of the emulator's state may have written this file. */
function isOurs(path: string): boolean {
  return path.includes('/') ? /\.git\//.test(path) : digestIn('list', path) !== undefined || path === MANIFEST + DRAFT;
}

/**
 * Returns true for a file of a single ref and for a lock file. Only Git writes them; the emulator stores all refs in
 * `packed-refs`.
 */
function isRef(path: string): boolean {
  return path.includes('/') && (path.includes('/refs/') || path.endsWith('.lock'));
}

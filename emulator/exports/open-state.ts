import { basename, resolve } from 'node:path';
import { KeyRing } from '../auth/keys.js';
import { bytesOf, NO_BYTES, textOf } from '../git/object/bytes.js';
import { repositoryNameIssue } from '../repositories/repository-name.js';
import { DiskTree } from '../sources/disk-tree.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import type { MemoryTree } from '../sources/memory-tree.js';
import { type GivenSource, kindOf, MANIFEST } from '../sources/open-source.js';
import { seed } from '../sources/seed.js';
import type { SeedOptions } from '../sources/seeded.js';
import { CurrentWorld } from '../world/current-world.js';
import { type Imported, importTree, readManifest } from './read-state.js';
import { readTar, type TarEntry, writeTar } from './tar.js';
import { writeSingle } from './write-state.js';

export interface ImportTarget {
  readonly organization?: string | undefined;
  /** Name of the repository that is imported from a folder, bundle or URL. Default: the last part of the path. */
  readonly name?: string | undefined;
}

/**
 * Opens the state of an emulator in a folder or tar archive. Returns undefined for anything else, such as a Git
 * repository or a URL. Throws `SourceError` if the archive is invalid.
 */
export async function openState(path: string): Promise<FileTree | undefined> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return undefined;
  if ((await kindOf(path)) === 'folder') return openStateFolder(path);
  const file = new DiskTree(path);
  if (!(await isTar(file))) return undefined;
  return readTar(file.read(NO_BYTES), { title: path });
}

/** Opens the state of an emulator in the bytes of a tar archive. Throws `SourceError` if the archive is invalid. */
export function openArchive(bytes: Uint8Array): Promise<FileTree> {
  const pieces = async function* () {
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  return readTar(pieces(), { title: 'The archive' });
}

async function isTar(file: DiskTree): Promise<boolean> {
  for await (const piece of file.read(NO_BYTES)) return piece.toString('latin1', 257, 262) === 'ustar';
  return false;
}

/**
 * Returns the name for a repository that is imported from a path or URL. It is the last part of `source`, without
 * `.git` or `.bundle`. Throws `SourceError` if this is not a valid repository name.
 */
export function nameOf(source: string): string {
  const name = basename(source.replace(/[?#].*$/, '').replace(/[/\\]+$/, '') || resolve(source)).replace(
    /\.(git|bundle)$/,
    '',
  );
  const own = name === '' || name === '.' || name === '..' ? basename(resolve(source)) : name;
  const fault = repositoryNameIssue(own);
  if (fault === undefined) return own;
  throw new SourceError(
    `${JSON.stringify(own)} cannot be the repository name, because it ${fault}. Choose another name.`,
  );
}

/** Opens the state of an emulator in a folder. Returns undefined if the folder has no `emulator.json`. */
export async function openStateFolder(path: string): Promise<FileTree | undefined> {
  const tree = new DiskTree(path);
  return (await tree.stat(bytesOf(MANIFEST))) === undefined ? undefined : tree;
}

/**
 * Returns the names of the organizations in a saved state, in the order of the ports that serve them. The list is empty
 * for an export of one repository. Throws `SourceError` if the manifest is invalid.
 */
export async function organizationsIn(tree: FileTree): Promise<readonly string[]> {
  const manifest = await readManifest(tree);
  return manifest.content === 'world' ? manifest.world.organizations.map(({ name }) => name) : [];
}

/** Reports the progress of an import: the number of bytes just read, and the total size of the state in bytes. */
export type OnImport = (bytes: number, total: number) => void;

/** Returns a tree with the same files that reports its reading: it calls `onImport` for each piece of a file. */
async function watched(tree: FileTree, onImport: OnImport): Promise<FileTree> {
  let total = 0;
  for await (const { size } of entriesOf(tree)) total += size;
  return {
    title: tree.title,
    stat: (path) => tree.stat(path),
    list: (folder) => tree.list(folder),
    readLink: (path) => tree.readLink(path),
    read: async function* (path) {
      for await (const piece of tree.read(path)) {
        onImport(piece.length, total);
        yield piece;
      }
    },
  };
}

export interface ImportOptions extends ImportTarget {
  /** The state to import, if the caller has already opened it. */
  readonly opened?: FileTree | undefined;
  readonly onImport?: OnImport | undefined;
}

/**
 * Imports an emulator's state, or a repository, from a path or URL into the current world. Throws `SourceError` if the
 * source is invalid.
 */
export async function importPath(current: CurrentWorld, path: string, target: ImportOptions = {}): Promise<Imported> {
  const organization = target.organization ?? current.config.organizations[0]!.name;
  const state = target.opened ?? (await openState(path));
  if (state && target.name !== undefined) {
    throw new SourceError(`${path} is the state of an emulator, which cannot be imported as one repository.`);
  }
  if (state) return importTree(current, target.onImport ? await watched(state, target.onImport) : state, organization);
  const repository = await seed(current.world, organization, target.name ?? nameOf(path), path);
  return { content: 'repository', repositories: 1, repository };
}

/**
 * Returns an emulator's state, or a repository, as a tar archive to send to another emulator. Checks a repository first
 * by reading it into a scratch world (a world that serves no client). Throws `SourceError` if the source is invalid.
 */
export async function archiveOf(
  path: string,
  { organization, name }: ImportTarget,
): Promise<AsyncIterable<Uint8Array>> {
  const state = await openState(path);
  if (!state) return (await archiveOfSource(path, { organization, name: name ?? nameOf(path) })).archive;
  await readManifest(state);
  if (name !== undefined)
    throw new SourceError(`${path} is the state of an emulator, which cannot be imported as one repository.`);
  return writeTar(entriesOf(state));
}

/** Repository as a tar archive. `isFiles`: true if the source consisted of files without history. */
export interface SourceArchive {
  readonly archive: AsyncIterable<Uint8Array>;
  readonly isFiles: boolean;
}

/**
 * Returns a repository, which is filled from a source, as a tar archive to send to another emulator. Throws
 * `SourceError` if the source is invalid.
 */
export async function archiveOfSource(
  source: GivenSource,
  { organization, name }: ImportTarget & { readonly name: string },
  options: SeedOptions = {},
): Promise<SourceArchive> {
  const current = scratchWorld();
  const own = current.config.organizations[0]!.name;
  const { isFiles } = await seed(current.world, own, 'repository', source, options);
  const { record, content } = current.world.state.repositories.find(own, 'repository')!;
  const as = isFiles ? 'files' : 'history';
  const archive = writeTar(writeSingle(record, content.keep(), current.engine, { name, organization, as }));
  return { archive, isFiles };
}

/**
 * Yields the files of an uploaded tar archive that is in memory. Throws `SourceError` if the archive is not an export
 * of an emulator.
 */
export async function* filesOfArchive(tree: MemoryTree): AsyncGenerator<TarEntry> {
  await readManifest(tree);
  yield* entriesOf(tree);
}

/**
 * Yields all files and folders of a saved state, for a tar archive. Omits lock files and drafts. Throws `SourceError`
 * for links and special files.
 */
export async function* entriesOf(tree: FileTree): AsyncGenerator<TarEntry> {
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const { name, kind, size } of await tree.list(folder as never)) {
      const path = folder === '' ? textOf(name) : `${folder}/${textOf(name)}`;
      if (folder === '' && (name.startsWith('lock') || name.endsWith('.new'))) continue;
      if (kind === 'folder') {
        waiting.push(path);
        yield { path: `${path}/`, size: 0, content: async function* () {} };
      } else if (kind === 'file') yield { path, size, content: () => tree.read(path as never) };
      else
        throw new SourceError(
          `${tree.title} contains ${path}, which is neither a file nor a folder; links are not followed.`,
        );
    }
  }
}

/**
 * Creates a world (whole state of an emulator) that serves no client. Sources are read into it to check them, before
 * they are sent to another emulator.
 */
export function scratchWorld(): CurrentWorld {
  const organization = {
    name: 'scratch',
    keys: new KeyRing([]),
    authenticationAvailable: true,
    hostingEnabled: true,
    forgeApps: 0,
  };
  return new CurrentWorld({ organizations: [organization] });
}

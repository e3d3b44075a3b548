import { basename, resolve } from 'node:path';
import { KeyRing } from '../auth/keys.js';
import { bytesOf, NO_BYTES, textOf } from '../git/object/bytes.js';
import { repositoryNameIssue } from '../repositories/repository-name.js';
import { DiskTree } from '../sources/disk-tree.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import type { MemoryTree } from '../sources/memory-tree.js';
import { kindOf, MANIFEST } from '../sources/open-source.js';
import { seed } from '../sources/seed.js';
import { CurrentWorld } from '../world/current-world.js';
import { type Imported, importTree, readManifest } from './read-state.js';
import { readTar, type TarEntry, writeTar } from './tar.js';
import { writeSingle } from './write-state.js';

export interface ImportTarget {
  readonly organization?: string | undefined;
  /** Name of the repository that a source becomes; default: the last part of the source's path. */
  readonly name?: string | undefined;
}

/** Opens the state in a folder or tar archive; undefined if the path is something else. Throws `SourceError`. */
export async function openState(path: string): Promise<FileTree | undefined> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return undefined;
  if ((await kindOf(path)) === 'folder') return openStateFolder(path);
  const file = new DiskTree(path);
  if (!(await isTar(file))) return undefined;
  return readTar(file.read(NO_BYTES), { title: path });
}

async function isTar(file: DiskTree): Promise<boolean> {
  for await (const piece of file.read(NO_BYTES)) return piece.toString('latin1', 257, 262) === 'ustar';
  return false;
}

/** Returns the repository name derived from `source`. Throws `SourceError`. */
export function nameOf(source: string): string {
  const name = basename(source.replace(/[?#].*$/, '').replace(/[/\\]+$/, '') || resolve(source)).replace(
    /\.(git|bundle)$/,
    '',
  );
  const own = name === '' || name === '.' || name === '..' ? basename(resolve(source)) : name;
  const fault = repositoryNameIssue(own);
  if (fault === undefined) return own;
  throw new SourceError(
    `${JSON.stringify(own)} is not a valid repository name: it ${fault}. Give the repository another name.`,
  );
}

/** Opens the state in a folder; undefined if it contains none. */
export async function openStateFolder(path: string): Promise<FileTree | undefined> {
  const tree = new DiskTree(path);
  return (await tree.stat(bytesOf(MANIFEST))) === undefined ? undefined : tree;
}

/**
 * Returns the organizations of a state, in the order of their ports; empty for an export of one repository. Throws
 * `SourceError`.
 */
export async function organizationsIn(tree: FileTree): Promise<readonly string[]> {
  const manifest = await readManifest(tree);
  return manifest.content === 'world' ? manifest.world.organizations.map(({ name }) => name) : [];
}

/** Called with the number of bytes read, and the total size of the state. */
export type OnImport = (bytes: number, total: number) => void;

/** Returns a tree that calls `onImport` when its files are read. */
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
  /** State at `path`, if it was opened before. */
  readonly opened?: FileTree | undefined;
  readonly onImport?: OnImport | undefined;
}

/** Imports the state or the repository at a path or URL. Throws `SourceError`. */
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
 * Returns the source at a path or URL as an archive, for another emulator. A repository is first read into a scratch
 * world, so that it is checked before it is sent. Throws `SourceError`.
 */
export async function archiveOf(
  path: string,
  { organization, name }: ImportTarget,
): Promise<AsyncIterable<Uint8Array>> {
  const state = await openState(path);
  if (state) {
    await readManifest(state);
    if (name !== undefined)
      throw new SourceError(`${path} is the state of an emulator, which cannot be imported as one repository.`);
    return writeTar(entriesOf(state));
  }
  const current = scratchWorld();
  const own = current.config.organizations[0]!.name;
  const made = await seed(current.world, own, 'repository', path);
  const { record, content } = current.world.state.repositories.find(own, 'repository')!;
  const as = made.isFiles ? 'files' : 'history';
  return writeTar(
    writeSingle(record, content.keep(), current.engine, { name: name ?? nameOf(path), organization, as }),
  );
}

/** Yields the files of an archive in memory. Throws `SourceError` if it is not an export. */
export async function* filesOfArchive(tree: MemoryTree): AsyncGenerator<TarEntry> {
  await readManifest(tree);
  yield* entriesOf(tree);
}

/** Yields every file and folder of a tree, for an archive. Throws `SourceError` for links and special files. */
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

/** Creates a world that serves no client. Sources are read into it to be checked. */
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

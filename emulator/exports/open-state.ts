import { basename, resolve } from 'node:path';
import { KeyRing } from '../auth/keys.js';
import { bytesOf, NO_BYTES, textOf } from '../git/object/bytes.js';
import { repositoryNameFault } from '../repositories/repository-name.js';
import { DiskTree } from '../sources/disk-tree.js';
import { type FileTree, SourceError } from '../sources/file-tree.js';
import type { MemoryTree } from '../sources/memory-tree.js';
import { kindOf, MANIFEST } from '../sources/open-source.js';
import { seed } from '../sources/seed.js';
import { CurrentWorld } from '../world/current-world.js';
import { type Imported, readManifest, takeOver } from './read-state.js';
import { readTar, type TarEntry, writeTar } from './tar.js';
import { writeSingle } from './write-state.js';

export interface ImportTarget {
  readonly organization?: string | undefined;
  /** Of the repository that a source becomes; the last part of its path unless given. */
  readonly name?: string | undefined;
}

/** The state in a folder or in a tar archive; undefined for what is something else. Throws `SourceError`. */
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

/** What a repository is called that is made of `source`. Throws `SourceError`. */
export function nameOf(source: string): string {
  const name = basename(source.replace(/[?#].*$/, '').replace(/[/\\]+$/, '') || resolve(source)).replace(
    /\.(git|bundle)$/,
    '',
  );
  const own = name === '' || name === '.' || name === '..' ? basename(resolve(source)) : name;
  const fault = repositoryNameFault(own);
  if (fault === undefined) return own;
  throw new SourceError(`No repository can be called ${JSON.stringify(own)}, which ${fault}; give it a name.`);
}

/** The state that is in a folder; undefined where there is none. */
export async function openStateFolder(path: string): Promise<FileTree | undefined> {
  const tree = new DiskTree(path);
  return (await tree.stat(bytesOf(MANIFEST))) === undefined ? undefined : tree;
}

/** The organizations of a state, in the order of their ports; empty for one repository alone. Throws `SourceError`. */
export async function organizationsIn(tree: FileTree): Promise<readonly string[]> {
  const manifest = await readManifest(tree);
  return manifest.content === 'world' ? manifest.world.organizations.map(({ name }) => name) : [];
}

/** Told of the bytes of a state that have been read, and of how many there are. */
export type OnImport = (bytes: number, total: number) => void;

/** The tree, with `onImport` told of what is read of its files. */
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
  /** What `path` leads to, where that is known already. */
  readonly opened?: FileTree | undefined;
  readonly onImport?: OnImport | undefined;
}

/** Takes over what a path or URL leads to: the state of an emulator, or one repository. Throws `SourceError`. */
export async function importPath(current: CurrentWorld, path: string, target: ImportOptions = {}): Promise<Imported> {
  const organization = target.organization ?? current.config.organizations[0]!.name;
  const state = target.opened ?? (await openState(path));
  if (state && target.name !== undefined) {
    throw new SourceError(`${path} is the state of an emulator, which cannot become one repository.`);
  }
  if (state) return takeOver(current, target.onImport ? await watched(state, target.onImport) : state, organization);
  const repository = await seed(current.world, organization, target.name ?? nameOf(path), path);
  return { content: 'repository', repositories: 1, repository };
}

/**
 * What a path or URL leads to as an archive, for an emulator elsewhere. A repository is read into `scratch`, so that it is
 * checked here already. Throws `SourceError`.
 */
export async function archiveOf(
  path: string,
  { organization, name }: ImportTarget,
): Promise<AsyncIterable<Uint8Array>> {
  const state = await openState(path);
  if (state) {
    await readManifest(state);
    if (name !== undefined)
      throw new SourceError(`${path} is the state of an emulator, which cannot become one repository.`);
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

/** The files of an archive that was read, for a folder. Throws `SourceError` where it is no export. */
export async function* filesOfArchive(tree: MemoryTree): AsyncGenerator<TarEntry> {
  await readManifest(tree);
  yield* entriesOf(tree);
}

/** Every file and folder of a tree, for an archive. Throws `SourceError` for links and the like. */
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
          `${tree.title} has something that is neither file nor folder, which is not followed: ${path}.`,
        );
    }
  }
}

/** A world that nobody is served from: a source is read into it and checked, before it goes elsewhere. */
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

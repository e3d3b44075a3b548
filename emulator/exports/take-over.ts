import { bytesOf, textOf } from '../git/object/bytes.js';
import type { FileTree } from '../sources/file-tree.js';
import { openGitDirectory } from '../sources/git-directory.js';
import { seedFrom } from '../sources/seed.js';
import type { Seeded } from '../sources/seeded.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { ReadRepositories } from './read-repositories.js';
import { type ReadOptions, readManifest, readWorld } from './read-state.js';

/** What an import has made: all of a world, or one repository in it. */
export interface Imported {
  readonly content: 'world' | 'repository';
  readonly repositories: number;
  readonly repository?: Seeded;
  /** Of a world: where its repositories were found, and whether secrets were with them. */
  readonly found?: ReadRepositories;
  readonly hasSecrets?: boolean;
}

/** Takes over what a tree holds: all of it, or nothing. Throws `SourceError`. */
export async function takeOver(
  current: CurrentWorld,
  tree: FileTree,
  organization: string,
  options: ReadOptions = {},
): Promise<Imported> {
  const manifest = await readManifest(tree);
  if (manifest.content === 'world') {
    const found = await readWorld(current, tree, manifest, options);
    const living = manifest.repositories.filter(({ folder }) => folder !== undefined);
    return { content: 'world', repositories: living.length, found, hasSecrets: manifest.secrets };
  }
  const { name, as, folder, organization: named = organization } = manifest;
  const mostBytes = current.config.limits.maxObjectBytes;
  const source = await openGitDirectory(tree, bytesOf(folder), { mostBytes });
  const title = `The repository ${name}`;
  const branch =
    source.head && 'symref' in source.head ? textOf(source.head.symref).slice('refs/heads/'.length) : 'main';
  const repository = await seedFrom(current.world, named, name, { ...source, title }, { as, defaultBranch: branch });
  return { content: 'repository', repositories: 1, repository };
}

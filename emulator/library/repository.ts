import type { Seeded, SeedOptions } from '../sources/seeded.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * Options that identify a repository in addition to its name. `org`: name of the organization that owns the repository.
 * Default: the first organization of the emulator.
 */
export interface RepositoryScope {
  readonly org?: string;
}

/**
 * Source from which `seed` reads the content of a repository. A string is the path of a folder, of a local Git
 * repository or of a Git bundle file, or the URL of a repository to clone. A `Uint8Array` has the bytes of a Git
 * bundle. A plain object has file contents by file path. An `EmulatorRepository` is another repository of an emulator
 * in this process.
 */
export type RepositorySource =
  | string
  | URL
  | Uint8Array
  | Readonly<Record<string, string | Uint8Array>>
  | EmulatorRepository;

/** Handle of a repository in an emulator, identified by organization and name. The repository itself need not exist. */
export interface EmulatorRepository {
  readonly org: string;
  readonly name: string;
  /**
   * Fills the repository from `source`, and creates the repository if it does not exist. Files become one new commit on
   * the default branch, whose parent is the current tip of that branch. A Git repository or bundle updates the
   * branches, tags and notes like a push without force. All changes are checked like those of a push and are applied
   * atomically. If the check fails, the promise rejects with an `Error` that states the reason. Symbolic links in a
   * folder are not followed. Seeding does not advance the clock, and the journal records no request for it. The same
   * option `seed`, clock and source produce the same ids.
   *
   * ```js
   * const { commit } = await emulator.repository('team/app').seed({ 'README.md': 'hello' });
   * ```
   */
  seed(source: RepositorySource, options?: SeedOptions): Promise<Seeded>;
}

/**
 * World (state of one service) of each repository handle that `repositoryOf` returned, so that `seed` can find the
 * content of a handle that it gets as source.
 */
const WORLDS = new WeakMap<object, CurrentWorld>();

/** Returns the handle of a repository in the current world (state of one service). @internal */
export function repositoryOf(current: CurrentWorld, org: string, name: string): EmulatorRepository {
  const repository: EmulatorRepository = {
    org,
    name,
    seed: async (source, options = {}) => {
      // Import the seeding code on demand, so that programs that never call `seed` do not load it.
      const { seed } = await import('../sources/seed.js');
      return seed(current.world, org, name, isRepository(source) ? open(source) : source, options);
    },
  };
  WORLDS.set(repository, current);
  return repository;
}

function isRepository(source: RepositorySource): source is EmulatorRepository {
  return typeof source === 'object' && WORLDS.has(source);
}

function open(source: EmulatorRepository) {
  const found = WORLDS.get(source)?.world.state.repositories.find(source.org, source.name);
  if (!found) throw new Error(`The source repository ${JSON.stringify(source.name)} does not exist in the emulator.`);
  return found;
}

import type { Seeded, SeedOptions } from '../sources/seeded.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * Options that identify a repository in addition to its name. `org` is the name of the organization that owns the
 * repository; by default, the first organization of the emulator.
 */
export interface RepositoryScope {
  readonly org?: string;
}

/**
 * Source from which `seed` reads the content of a repository:
 *
 * - string: path of a folder, of a local Git repository or of a Git bundle file, or the URL of a repository to clone
 * - `Uint8Array`: bytes of a Git bundle
 * - plain object: file contents by file path
 * - `EmulatorRepository`: another repository of an emulator in this process
 */
export type RepositorySource =
  | string
  | URL
  | Uint8Array
  | Readonly<Record<string, string | Uint8Array>>
  | EmulatorRepository;

/**
 * Handle of a repository in an emulator. The organization and the name identify the repository, which need not exist.
 */
export interface EmulatorRepository {
  readonly org: string;
  readonly name: string;
  /**
   * Fills the repository from `source`. Creates the repository if it does not exist.
   *
   * Files become one new commit on the default branch, whose parent is the current tip of this branch. A Git repository
   * or bundle updates the branches, tags and notes like a push without force. Symbolic links in a folder are not
   * followed.
   *
   * All changes are checked like those of a push and are applied atomically. If the check fails, the promise rejects
   * with an `Error` that states the reason. Seeding does not advance the clock, and it is not recorded in the journal.
   * Equal sources, clocks and values of the option `seed` produce equal ids.
   *
   * ```js
   * const { commit } = await emulator.repository('team/app').seed({ 'README.md': 'hello' });
   * ```
   */
  seed(source: RepositorySource, options?: SeedOptions): Promise<Seeded>;
}

/**
 * World (state of one service) of each repository handle that `repositoryOf` returned. If such a handle is the source
 * of `seed`, its content is found through this map.
 */
const WORLDS = new WeakMap<object, CurrentWorld>();

/** Returns the handle of a repository in the current world (state of one service). @internal */
export function repositoryOf(current: CurrentWorld, org: string, name: string): EmulatorRepository {
  const repository: EmulatorRepository = {
    org,
    name,
    seed: async (source, options = {}) => {
      // The seeding code is imported on demand, so that programs that never call `seed` do not load it.
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

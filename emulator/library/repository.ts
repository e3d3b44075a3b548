import type { Seeded, SeedOptions } from '../sources/seeded.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Name of the organization that owns the repository. Default: the first organization of the emulator. */
export interface RepositoryScope {
  readonly org?: string;
}

/**
 * Source for the content of a repository: the path of a folder, of a local Git repository or of a bundle; the URL of a
 * repository to clone; file contents by path; the bytes of a bundle; or another repository of an emulator.
 */
export type RepositorySource =
  | string
  | URL
  | Uint8Array
  | Readonly<Record<string, string | Uint8Array>>
  | EmulatorRepository;

/** Repository of an emulator, identified by its name. It need not exist. */
export interface EmulatorRepository {
  readonly org: string;
  readonly name: string;
  /**
   * Fills the repository, and creates it if it does not exist. Files become one commit on the default branch, with its
   * current tip as parent. The branches, tags and notes of a Git repository or bundle are updated as by a push without
   * force. Everything is checked like a push and applied atomically; if the check fails, the promise rejects with an
   * `Error` that states the reason. Symbolic links are not followed. The clock does not move, and the journal records
   * no request. The same seed, clock and source produce the same ids.
   *
   * ```js
   * const { commit } = await emulator.repository('team/app').seed({ 'README.md': 'hello' });
   * ```
   */
  seed(source: RepositorySource, options?: SeedOptions): Promise<Seeded>;
}

/** World of each repository object that was returned. */
const WORLDS = new WeakMap<object, CurrentWorld>();

/** @internal */
export function repositoryOf(current: CurrentWorld, org: string, name: string): EmulatorRepository {
  const repository: EmulatorRepository = {
    org,
    name,
    seed: async (source, options = {}) => {
      // Loaded on demand, because few emulators are filled in this way.
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
  if (!found) throw new Error(`Repository ${JSON.stringify(source.name)} does not exist.`);
  return found;
}

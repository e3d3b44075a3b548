import type { Seeded, SeedOptions } from '../sources/seeded.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Which organization's repository is meant; the first one's unless given. */
export interface RepositoryScope {
  readonly org?: string;
}

/**
 * What a repository can be filled from: the path of a folder, a repository or a bundle; the URL of one that can be
 * cloned; contents by path; the bytes of a bundle; or another repository.
 */
export type RepositorySource =
  | string
  | URL
  | Uint8Array
  | Readonly<Record<string, string | Uint8Array>>
  | EmulatorRepository;

/** A repository of an emulator, by its name. */
export interface EmulatorRepository {
  readonly org: string;
  readonly name: string;
  /**
   * Fills the repository, and makes it where it is not there. Files, of a folder or by path, become one commit on the
   * default branch, behind the one that is there; the branches, tags and notes of a history are taken over as a push
   * without force would. All of it is checked as a push is, and is there at once, or not at all: then it rejects with an
   * `Error` that says why. No symbolic link is followed. The clock does not move, and the journal does not see it; the
   * same seed, clock and source give the same ids.
   *
   * ```js
   * const { commit } = await emulator.repository('team/app').seed({ 'README.md': 'hello' });
   * ```
   */
  seed(source: RepositorySource, options?: SeedOptions): Promise<Seeded>;
}

/** The worlds of the repositories that were given out. */
const WORLDS = new WeakMap<object, CurrentWorld>();

/** @internal */
export function repositoryOf(current: CurrentWorld, org: string, name: string): EmulatorRepository {
  const repository: EmulatorRepository = {
    org,
    name,
    seed: async (source, options = {}) => {
      // Few emulators are filled in this way.
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
  if (!found) throw new Error(`There is no repository ${JSON.stringify(source.name)}.`);
  return found;
}

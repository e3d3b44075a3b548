import type { CurrentWorld } from '../world/current-world.js';
import { releaseRepositories } from '../world/repositories.js';
import { writeTar } from './tar.js';
import { writeWorld } from './write-state.js';

/**
 * Returns an export of the current world (state of one service) as a tar archive, in pieces. It contains the state at
 * the time of the call.
 */
export function exportArchive(
  { config, engine, world }: CurrentWorld,
  includeSecrets: boolean,
): AsyncGenerator<Uint8Array> {
  const snapshot = world.snapshot();
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      yield* writeTar(writeWorld(snapshot, { config, engine }, includeSecrets));
    } finally {
      releaseRepositories(snapshot.repositories, engine.memory);
    }
  }
  return pieces();
}

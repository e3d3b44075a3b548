import { createHash } from 'node:crypto';
import { releaseRepositories } from '../../world/repositories.js';
import type { World } from '../../world/world.js';

/**
 * Returns a hash of the world's state that requests could change. If it is equal before and after a request, the
 * request wrote nothing. `memory: false` leaves out the memory used by objects, because it depends on how the objects
 * arrived. A world is the state of an emulator.
 */
export function stateDigest(world: World, { memory = true } = {}): string {
  const hash = createHash('sha256');
  const { repositories, webhooks } = world.snapshot();
  for (const [id, record] of repositories.records.byId.entries()) {
    const { refs, ...rest } = record;
    const { size, heldBytes } = repositories.contents.get(id)!;
    hash.update(JSON.stringify([id, rest, refs.head, [...refs.entries()], size, memory && heldBytes]));
  }
  const { created, names } = repositories.records;
  releaseRepositories(repositories, world.engine.memory);
  hash.update(JSON.stringify([created, [...names.entries()], [...webhooks.keys()]]));
  return hash.digest('hex');
}

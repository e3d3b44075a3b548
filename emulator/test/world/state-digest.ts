import { createHash } from 'node:crypto';
import { releaseRepositories } from '../../world/repositories.js';
import type { World } from '../../world/world.js';

/**
 * Returns a hash of all state of a world (state of an emulator) that a request could change. Equal hashes before and
 * after a request mean that the request wrote nothing. If `memory` is false, the memory used by objects is left out,
 * because it depends on the way in which the objects arrived.
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

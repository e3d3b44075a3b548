import { createHash } from 'node:crypto';
import { releaseRepositories } from '../../world/repositories.js';
import type { World } from '../../world/world.js';

/**
 * Everything a world keeps that a request could change, as one text: equal before and after means "nothing written".
 * Without `memory` it leaves out what the objects take, which depends on how they came.
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

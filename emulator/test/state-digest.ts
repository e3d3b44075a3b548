import { createHash } from 'node:crypto';
import type { World } from '../world/world.js';

/** Everything a world keeps that a request could change, as one text: equal before and after means "nothing written". */
export function stateDigest(world: World): string {
  const hash = createHash('sha256');
  for (const [id, record] of world.state.repositories.entries()) {
    const { refs, ...rest } = record;
    const { objects } = world.repositoryById(id)!.git;
    hash.update(JSON.stringify([id, rest, refs.head, [...refs.entries()], objects.size, objects.heldBytes]));
  }
  hash.update(
    JSON.stringify([world.state.created, [...world.state.names.entries()], [...world.state.webhooks.keys()]]),
  );
  return hash.digest('hex');
}

import { createHash } from 'node:crypto';
import type { World } from '../world/world.js';

/** Everything a world keeps that a request could change, as one text: equal before and after means "nothing written". */
export function stateDigest(world: World): string {
  const hash = createHash('sha256');
  const { repositories, webhooks } = world.snapshot();
  for (const [id, record] of repositories.records.byId.entries()) {
    const { refs, ...rest } = record;
    const { objects } = repositories.contents.get(id)!.content;
    hash.update(JSON.stringify([id, rest, refs.head, [...refs.entries()], objects.size, objects.heldBytes]));
  }
  const { created, names } = repositories.records;
  hash.update(JSON.stringify([created, [...names.entries()], [...webhooks.keys()]]));
  return hash.digest('hex');
}

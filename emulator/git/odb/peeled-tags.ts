import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { type ObjectReader, TAG } from '../object/object.js';
import { tagTarget } from '../object/tag.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * Records the peeled object of each new annotated tag that refers to another tag. The peeled object is the object at
 * the end of the chain of tags. New objects are those from number `first` on.
 *
 * Git follows the chain each time it needs the peeled object. With the record, each tag is read only once, on receipt,
 * and later requests need one lookup. Yields between pieces of work, so that other requests can run.
 */
export function* peelNewTags(objects: StoredObjects, reader: ObjectReader, first: number): Steps<void> {
  const { count } = objects;
  for (let number = first; number < count; number++) {
    if (objects.typeOf(number) !== TAG || objects.peeledOf(number) !== undefined) continue;
    const chain: number[] = [];
    let at = number;
    let last = -1;
    while (at >= 0 && reader.typeOf(at) === TAG) {
      const known = objects.peeledOf(at);
      if (known !== undefined) {
        at = known;
        last = -1;
        break;
      }
      chain.push(at);
      last = at;
      at = reader.find(reader.peek(at, tagTarget));
      if (chain.length % PIECE === 0) yield PIECE_COST;
    }
    // The last tag of a chain needs no record, because it refers directly to the object at the end.
    if (at >= 0) for (const tag of chain) if (tag !== last) objects.setPeeled(tag, at);
    if (number % PIECE === 0) yield PIECE_COST;
  }
}

import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { type ObjectReader, TAG } from '../object/object.js';
import { tagTarget } from '../object/tag.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * Records for each tag from number `first` on that points at a tag the object at the end of the chain. Git follows such
 * chains again each time. Recording them on receipt reads each tag once, and peeling it later takes one lookup.
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
    // The last tag of a chain needs no record, because it names the object itself.
    if (at >= 0) for (const tag of chain) if (tag !== last) objects.setPeeled(tag, at);
    if (number % PIECE === 0) yield PIECE_COST;
  }
}

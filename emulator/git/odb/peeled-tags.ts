import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { type ObjectReader, TAG } from '../object/object.js';
import { tagTarget } from '../object/tag.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * Notes of each tag from number `first` on that names a tag where the chain ends. Git follows chains of any length, each
 * time anew; here each tag is read once, when it comes in, and peeling it later takes one step.
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
    // The last tag of a chain says itself where it leads.
    if (at >= 0) for (const tag of chain) if (tag !== last) objects.setPeeled(tag, at);
    if (number % PIECE === 0) yield PIECE_COST;
  }
}

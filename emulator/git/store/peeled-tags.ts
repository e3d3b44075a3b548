import { type Steps, UNIT } from '../history/steps.js';
import { type ObjectReader, TAG } from '../object.js';
import { tagTarget } from '../tag.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * Notes of each tag from number `first` on that names a tag where the chain ends. Git follows chains of any length, each
 * time anew; here each tag is read once, when it comes in, and whoever asks later has the answer in one step.
 */
export function* peelNewTags(objects: StoredObjects, reader: ObjectReader, first: number): Steps<void> {
  const { types, count } = objects;
  for (let number = first; number < count; number++) {
    if (types[number] !== TAG || objects.peeled.has(number)) continue;
    const chain: number[] = [];
    let at = number;
    while (at >= 0 && reader.typeOf(at) === TAG) {
      const known = objects.peeled.get(at);
      if (known !== undefined) {
        at = known;
        break;
      }
      chain.push(at);
      at = reader.find(tagTarget(reader.peek(at)));
      if (chain.length % UNIT === 0) yield;
    }
    // The last of a chain says where it leads itself.
    if (at >= 0) for (const tag of chain.slice(0, -1)) objects.setPeeled(tag, at);
    if (number % UNIT === 0) yield;
  }
}

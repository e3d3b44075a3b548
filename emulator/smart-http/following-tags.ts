import { type Oid, TAG } from '../git/object/object.js';
import { tagTarget } from '../git/object/tag.js';
import type { GitRepository } from '../git/repository/repository.js';
import type { Meter } from '../git/schedule/meter.js';
import type { RefListings } from './ref-listings.js';
import type { RepositoryView } from './view.js';

/**
 * gitprotocol-capabilities, include-tag: "The server MUST send annotated tags if we are sending the
 * objects they point to." Returns `numbers`, which ascend, with those tags put behind.
 */
export async function followingTags(
  view: RepositoryView,
  numbers: Int32Array,
  listings: RefListings,
  meter: Meter,
): Promise<Int32Array> {
  const added = new Set<number>();
  for (const { oid, target } of await listings.annotatedTags(view, meter)) {
    if (meter.isOver) await meter.pass();
    if (!isAmong(numbers, target)) continue;
    for (const number of tagChain(view.repository, oid)) {
      // What it leads to came with it.
      if (added.has(number)) break;
      if (!isAmong(numbers, number)) added.add(number);
      if (meter.isOver) await meter.pass();
    }
  }
  if (added.size === 0) return numbers;
  const all = new Int32Array(numbers.length + added.size);
  all.set(numbers);
  all.set([...added], numbers.length);
  return all;
}

/** Whether a list that ascends has the number. */
function isAmong(numbers: Int32Array, number: number): boolean {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numbers[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === number;
}

/** The tag, and the tags it leads through. */
function* tagChain({ objects }: GitRepository, oid: Oid): IterableIterator<number> {
  for (let number = objects.find(oid); objects.typeOf(number) === TAG; ) {
    yield number;
    number = objects.find(tagTarget(objects.read(number)));
  }
}

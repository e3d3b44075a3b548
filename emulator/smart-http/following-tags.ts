import { type Oid, TAG } from '../git/object.js';
import type { GitRepository } from '../git/repository.js';
import { tagTarget } from '../git/tag.js';
import type { RefListings } from './ref-listings.js';
import { type RepositoryView, visibleRefs } from './view.js';

/**
 * gitprotocol-capabilities, include-tag: "The server MUST send annotated tags if we are sending the
 * objects they point to." Returns `numbers` with those tags put behind.
 */
export function followingTags(view: RepositoryView, numbers: Int32Array, listings: RefListings): Int32Array {
  const { repository, prefix } = view;
  const { objects } = repository;
  const sent = new Set<number>();
  const added: number[] = [];
  let isFilled = false;
  for (const [, oid] of visibleRefs(repository.refs, prefix, 'refs/tags/')) {
    const peeled = listings.peeled(repository, oid);
    if (peeled === undefined) continue;
    if (!isFilled) for (const number of numbers) sent.add(number);
    isFilled = true;
    if (!sent.has(objects.find(peeled))) continue;
    for (const number of tagChain(repository, oid)) {
      if (sent.has(number)) break;
      sent.add(number);
      added.push(number);
    }
  }
  if (added.length === 0) return numbers;
  const all = new Int32Array(numbers.length + added.length);
  all.set(numbers);
  all.set(added, numbers.length);
  return all;
}

/** The tag, and the tags it leads through. */
function* tagChain({ objects }: GitRepository, oid: Oid): IterableIterator<number> {
  for (let number = objects.find(oid); objects.typeOf(number) === TAG; ) {
    yield number;
    number = objects.find(tagTarget(objects.read(number)));
  }
}

import { IntList } from '../../memory/int-list.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import type { LinkReader } from '../object/link-reader.js';
import { NONE } from '../object/tree-cursor.js';
import { objectAt } from '../object/tree-entries.js';
import { NumberSet } from './number-set.js';

/**
 * Adds trees and everything below them to `found`. `trees` contains their object numbers. Trees in `complete` are not
 * read, because their content need not be added. Each added tree is also added to `complete`.
 *
 * A tree may be stored as a difference (delta) from another tree. If the other tree is complete, only the entries in
 * the difference are new. Trees are processed in the order of their object numbers, because packs contain delta bases
 * before their deltas. The total cost is then proportional to the size of the differences.
 */
export function* addClosure(
  objects: LinkReader,
  trees: Iterable<number>,
  found: NumberSet,
  complete: NumberSet,
): Steps<void> {
  const pending = new NumberSet(objects.size);
  const { names } = objects;
  let work = 0;
  for (const tree of trees) {
    if (tree !== NONE) pending.add(tree);
    if (++work % PIECE === 0) yield PIECE_COST;
  }
  // `next` starts again at 0 after the highest number. A subtree may have a smaller number than the tree that contains
  // it.
  for (let tree = pending.next(0); tree >= 0; tree = next(pending, tree)) {
    pending.delete(tree);
    if (!complete.add(tree)) continue;
    found.add(tree);
    const difference = objects.differenceOf(tree);
    if (difference !== undefined && complete.has(difference.base)) {
      difference.eachOwn((cells, start, end) => {
        for (let at = start; at < end; at += 2) {
          const key = cells[at]!;
          if (names.isTree(key)) pending.add(cells[at + 1]!);
          else if (!names.isGitlink(key)) found.add(cells[at + 1]!);
        }
        work += end - start;
      });
    } else {
      const entries = yield* objects.entriesOf(tree);
      for (let index = 0; index < entries.length; index++) {
        if (entries.isGitlinkAt(index)) continue;
        const number = objectAt(entries, index);
        if (!entries.isTreeAt(index)) found.add(number);
        else if (number !== NONE) pending.add(number);
      }
      work += 8 + entries.length;
    }
    if (++work > PIECE) {
      yield work * COST.operation;
      work = 0;
    }
  }
}

function next(pending: NumberSet, from: number): number {
  const number = pending.next(from);
  return number >= 0 ? number : pending.next(0);
}

/**
 * Adds trees and everything below them to `found`, as `addClosure` does, but only objects at a depth less than `limit`.
 * `depth` is the depth of the given trees. The depth of an entry is one more than the depth of its tree. An object at
 * several paths counts with its smallest depth.
 *
 * `depths` is the smallest depth of each tree that was already added, by object number. It is kept between calls, so a
 * tree is read again only at a smaller depth.
 */
export function* addToDepth(
  objects: LinkReader,
  trees: Iterable<number>,
  depth: number,
  limit: number,
  found: NumberSet,
  depths: Map<number, number>,
): Steps<void> {
  const stack = new IntList();
  for (const tree of trees) pushTree(stack, tree, depth);
  let work = 0;
  while (stack.length > 0) {
    const at = stack.pop();
    const tree = stack.pop();
    if (at >= limit || tree === NONE || (depths.get(tree) ?? Number.POSITIVE_INFINITY) <= at) continue;
    depths.set(tree, at);
    found.add(tree);
    if (at + 1 < limit) {
      const entries = yield* objects.entriesOf(tree);
      for (let index = 0; index < entries.length; index++) {
        if (entries.isGitlinkAt(index)) continue;
        const number = objectAt(entries, index);
        if (entries.isTreeAt(index)) pushTree(stack, number, at + 1);
        else found.add(number);
      }
      work += entries.length;
    }
    work += 8;
    if (work > PIECE) {
      yield work * COST.operation;
      work = 0;
    }
  }
}

function pushTree(stack: IntList, tree: number, depth: number): void {
  stack.push(tree);
  stack.push(depth);
}

import type { ObjectReader } from '../object/object.js';
import { NONE, TreeCursor } from '../object/tree-cursor.js';
import { COST } from '../schedule/cost.js';
import { PIECE, type Steps } from '../schedule/steps.js';
import { IntList } from './int-list.js';
import type { NumberSet } from './number-set.js';

/**
 * Adds trees (by object number) and everything below them to `found`. What is in `complete`, a set of trees
 * whose content is in `found` already, is not entered again.
 */
export function* addClosure(
  objects: ObjectReader,
  trees: Iterable<number>,
  found: NumberSet,
  complete: NumberSet,
): Steps<void> {
  const stack = [...trees];
  let work = 0;
  for (let tree = stack.pop(); tree !== undefined; tree = stack.pop()) {
    if (tree === NONE || !complete.add(tree)) continue;
    found.add(tree);
    const entry = new TreeCursor(objects.read(tree));
    while (entry.next()) {
      if (entry.isGitlink) continue;
      const number = entry.object(objects);
      if (entry.isTree) stack.push(number);
      else found.add(number);
      work++;
    }
    work += 8;
    if (work > PIECE) {
      yield work * COST.operation;
      work = 0;
    }
  }
}

/**
 * As `addClosure`, but only what is less than `limit` deep; the trees themselves are `depth` deep.
 * An object in several places counts by the least deep. `depths` remembers trees between calls.
 */
export function* addToDepth(
  objects: ObjectReader,
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
      const entry = new TreeCursor(objects.read(tree));
      while (entry.next()) {
        if (entry.isGitlink) continue;
        const number = entry.object(objects);
        if (entry.isTree) pushTree(stack, number, at + 1);
        else found.add(number);
        work++;
      }
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

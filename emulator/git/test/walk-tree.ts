import type { ObjectReader, Oid } from '../object/object.js';
import type { PathEntry } from '../object/tree.js';
import { TreeWalk, type WalkOptions } from '../pathspec/tree-walk.js';

/** Yields all entries that a `TreeWalk` of `tree` finds. Runs without pauses for other work. */
export function* walkTree(objects: ObjectReader, tree: Oid, options: WalkOptions = {}): IterableIterator<PathEntry> {
  const walk = new TreeWalk(objects, tree, options);
  while (walk.step()) if (walk.isFound) yield { path: walk.path, mode: walk.mode, oid: walk.oid };
}

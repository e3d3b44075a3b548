import type { ObjectReader, Oid } from '../object/object.js';
import type { PathEntry } from '../object/tree.js';
import { TreeWalk, type WalkOptions } from '../pathspec/tree-walk.js';

/** Yields every entry that a walk finds, without yielding to the event loop. */
export function* walkTree(objects: ObjectReader, tree: Oid, options: WalkOptions = {}): IterableIterator<PathEntry> {
  const walk = new TreeWalk(objects, tree, options);
  while (walk.step()) if (walk.isFound) yield { path: walk.path, mode: walk.mode, oid: walk.oid };
}

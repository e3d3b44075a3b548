import { withRoom } from '../../memory/growable.js';
import { runSync } from '../../schedule/steps.js';
import { type ByteString, splitBytes } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { NONE } from '../object/tree-cursor.js';
import { objectAt, type TreeEntries } from '../object/tree-entries.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import type { HistoryIndex } from './history-index.js';

/**
 * Compares the versions of one path (a file or folder) in several commits. If the history index has a record of the
 * commit, which lists the paths that it changed, this record is used. Otherwise the trees of the commits are read.
 */
export class PathComparison {
  readonly #names: readonly ByteString[];
  readonly #paths: PathCover;

  constructor(
    readonly graph: CommitGraph,
    readonly index: HistoryIndex,
    path: ByteString,
  ) {
    this.#names = path === '' ? [] : splitBytes(path, '/');
    this.#paths = new PathCover(index, path);
  }

  exists(position: GraphPosition): boolean {
    return !this.#isSameInTrees(this.graph.treeOf(position), NONE);
  }

  /**
   * Returns true if the path has equal content in a commit and in one of its parents. `position` and `parent` are the
   * positions of the two commits. `nth` is the index of the parent in the commit, from 0.
   */
  isSame(position: GraphPosition, parent: GraphPosition, nth: number): boolean {
    if (nth === 0 && this.index.has(position)) return !this.#paths.hasAny(this.index.changedBy(position));
    return this.#isSameInTrees(this.graph.treeOf(position), this.graph.treeOf(parent));
  }

  #isSameInTrees(left: number, right: number): boolean {
    const { objects } = this.graph;
    const last = this.#names.length - 1;
    for (let at = 0; at <= last && left !== right; at++) {
      const a = findEntry(objects, left, this.#names[at]!);
      const b = findEntry(objects, right, this.#names[at]!);
      if (at === last) return isSame(a, b);
      left = treeOf(a);
      right = treeOf(b);
    }
    return left === right;
  }
}

/** Set of path numbers in a history index. It contains the numbers of one file or folder and of everything below it. */
class PathCover {
  /**
   * Membership flags by path number: 1 if the path belongs to the set. Flags are computed only for path numbers below
   * `#known`.
   */
  #isInside = new Uint8Array(64);
  #known = 0;

  constructor(
    readonly index: HistoryIndex,
    readonly path: ByteString,
  ) {}

  hasAny(paths: Int32Array): boolean {
    if (this.#known < this.index.paths.size) this.#learn();
    for (const path of paths) if (this.#isInside[path] === 1) return true;
    return false;
  }

  /**
   * Computes the flags of the path numbers that were assigned since the last call. One pass is enough, because a folder
   * has a smaller number than the paths in it.
   */
  #learn(): void {
    const { paths } = this.index;
    const top = paths.find(this.path);
    this.#isInside = withRoom(this.#isInside, paths.size);
    for (let path = this.#known; path < paths.size; path++) {
      const isInside = path === top || (path > 0 && this.#isInside[paths.folderOf(path)] === 1);
      this.#isInside[path] = isInside ? 1 : 0;
    }
    this.#known = paths.size;
  }
}

/** Entry of a tree, given by the list of all entries and the index of this entry in the list. */
interface Entry {
  readonly entries: TreeEntries;
  readonly index: number;
}

/**
 * Returns the entry with this name in a tree; undefined if absent. `tree` is the object number of the tree. An empty
 * subfolder counts as absent, because Git's comparison ignores it.
 */
function findEntry(objects: LinkReader, tree: number, name: ByteString): Entry | undefined {
  if (tree === NONE) return undefined;
  const entries = runSync(objects.entriesOf(tree));
  const index = entries.find(name);
  if (index < 0) return undefined;
  const object = entries.objectAt(index);
  const isEmpty = entries.isTreeAt(index) && (object === NONE || (object >= 0 && objects.sizeOf(object) === 0));
  return isEmpty ? undefined : { entries, index };
}

/** Returns true if both entries are absent, or if their modes and objects are equal. */
function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.entries.objectAt(a.index) === b.entries.objectAt(b.index) &&
    a.entries.modeAt(a.index) === b.entries.modeAt(b.index)
  );
}

/**
 * Returns the object number of the tree that an entry refers to. Returns `NONE` if the entry is absent or not a folder.
 * Throws `MissingObject` if the tree does not exist.
 */
function treeOf(entry: Entry | undefined): number {
  return entry?.entries.isTreeAt(entry.index) === true ? objectAt(entry.entries, entry.index) : NONE;
}

import { NONE } from '../object/tree-cursor.js';
import type { Steps } from '../schedule/steps.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { IntList } from './int-list.js';
import type { NumberSet } from './number-set.js';
import { PathTable } from './path-table.js';
import { TreeDiff } from './tree-diff.js';

/**
 * The history index: for each commit what it introduced, compared with its first parent (a root: with nothing).
 *
 * Every object of a commit is either introduced by it or already in its first parent; by induction the objects
 * introduced by a set of commits, joined, are all that is reachable from the set but not from the first parents
 * outside it. That is what a fetch has to send, found without opening a single tree. An object is listed by every
 * commit that introduced it: the same blob may come back years later, after a set's edge.
 *
 * Filled on demand, commit by commit; a commit's record never changes.
 */
export class HistoryIndex {
  readonly paths = new PathTable();
  /** Per position: which record, + 1; 0 while there is none. */
  #recordOf = new Int32Array(0);
  // Where the parts of a record end; it starts where the record before it ends.
  readonly #objectsEnd = new IntList();
  readonly #pathsEnd = new IntList();
  readonly #objects = new IntList();
  readonly #changed = new IntList();

  constructor(readonly graph: CommitGraph) {}

  /** Commits indexed so far. */
  get size(): number {
    return this.#objectsEnd.length;
  }

  has(position: GraphPosition): boolean {
    return (this.#recordOf[position] ?? 0) > 0;
  }

  /**
   * Trees and blobs the commit introduced, each followed by what its first parent has at the same path, or -1.
   * Without objects that the first parent has elsewhere among what changed, so a renamed folder costs nothing.
   */
  objectsOf(position: GraphPosition): Int32Array {
    const record = this.#recordOf[position]! - 1;
    return this.#objects.view(record === 0 ? 0 : this.#objectsEnd.at(record - 1), this.#objectsEnd.at(record));
  }

  /** Adds what `objectsOf` the commit says was introduced. */
  addObjectsOf(position: GraphPosition, found: NumberSet): void {
    const record = this.#recordOf[position]! - 1;
    const end = this.#objectsEnd.at(record);
    for (let at = record === 0 ? 0 : this.#objectsEnd.at(record - 1); at < end; at += 2)
      found.add(this.#objects.at(at));
  }

  /** Files, links and gitlinks that differ from the first parent: path numbers, each once. */
  changedBy(position: GraphPosition): Int32Array {
    const record = this.#recordOf[position]! - 1;
    return this.#changed.view(record === 0 ? 0 : this.#pathsEnd.at(record - 1), this.#pathsEnd.at(record));
  }

  /** Indexes the commits that are not yet. Several callers may be at it at once; they share the work. */
  *cover(positions: Iterable<GraphPosition>): Steps<void> {
    const diff = new TreeDiff(this.graph.objects, this.paths);
    for (const position of positions) {
      if (this.has(position)) continue;
      yield* this.#diffWithParent(diff, position);
      if (!this.has(position)) this.#add(position, diff);
      yield 1;
    }
  }

  /** Indexes one commit when it is not yet. */
  *coverOne(position: GraphPosition): Steps<void> {
    if (!this.has(position)) yield* this.cover([position]);
  }

  #diffWithParent(diff: TreeDiff, position: GraphPosition): Steps<void> {
    const { graph } = this;
    const parent = graph.parentOf(position, 0);
    return diff.compare(parent < 0 ? NONE : graph.treeOf(parent), graph.treeOf(position));
  }

  #add(position: GraphPosition, diff: TreeDiff): void {
    const removed = diff.removed.length > 0 ? new Set(diff.removed.view()) : undefined;
    const added = diff.added.view();
    for (let at = 0; at < added.length; at += 2) {
      if (removed?.has(added[at]!)) continue;
      this.#objects.push(added[at]!);
      this.#objects.push(added[at + 1]!);
    }
    this.#changed.append(diff.changed.view());
    this.#objectsEnd.push(this.#objects.length);
    this.#pathsEnd.push(this.#changed.length);
    if (position >= this.#recordOf.length) this.#grow(position + 1);
    this.#recordOf[position] = this.size;
  }

  #grow(length: number): void {
    const larger = new Int32Array(Math.max(length, this.graph.size, this.#recordOf.length * 2));
    larger.set(this.#recordOf);
    this.#recordOf = larger;
  }
}

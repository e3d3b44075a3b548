import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { NONE } from '../object/tree-cursor.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import type { NumberSet } from './number-set.js';
import { PathTable } from './path-table.js';
import { TreeDiff } from './tree-diff.js';

/**
 * Index of the trees and blobs that each commit introduced. A commit introduced an object if its first parent does not
 * have the object. A root commit introduced all its objects.
 *
 * A fetch uses the index to find the objects to send without reading a tree. Every object of a commit is introduced by
 * the commit or contained in its first parent. By induction, the objects introduced by a set of commits include
 * everything that is reachable from the set but not from first parents outside the set.
 *
 * An object is listed for every commit that introduced it. For example, a blob may be removed and added again years
 * later, when a client no longer has it.
 *
 * The index is filled on demand, commit by commit. The record of a commit never changes.
 */
export class HistoryIndex {
  /**
   * Table that assigns a number to each path. All forks of a repository share one table, so path numbers are equal in
   * all of them.
   */
  readonly paths: PathTable;
  readonly #parent: HistoryIndex | undefined;
  /**
   * Number of each commit's record plus 1; 0 if the commit has no record. The index is the position of the commit minus
   * `graph.sharedSize`.
   */
  #recordOf = new Int32Array(0);
  // Ends of the records in `#objects` and `#changed`. Each record starts at the end of the previous record.
  #objectsEnd = new IntList();
  #pathsEnd = new IntList();
  #objects = new IntList();
  #changed = new IntList();

  /**
   * Creates an empty index for the commits that `graph` stores itself. `below` is the index of the graph that `graph`
   * extends; it provides the records of all older commits.
   */
  constructor(
    readonly graph: CommitGraph,
    below?: HistoryIndex,
    paths = below?.paths ?? new PathTable(),
  ) {
    this.#parent = below;
    this.paths = paths;
  }

  /** Number of commits with a record, including those in the index of the parent graph. */
  get size(): number {
    return this.#objectsEnd.length + (this.#parent?.size ?? 0);
  }

  has(position: GraphPosition): boolean {
    const own = position - this.graph.sharedSize;
    return own < 0 ? this.#parent!.has(position) : (this.#recordOf[own] ?? 0) > 0;
  }

  /**
   * Returns the trees and blobs that the commit introduced, as pairs of object numbers. The first number of a pair is
   * the new object. The second is the object at this path in the first parent, or -1 if none.
   *
   * An object that the first parent has at another changed path is omitted, so a renamed folder adds nothing.
   */
  objectsOf(position: GraphPosition): Int32Array {
    const own = position - this.graph.sharedSize;
    if (own < 0) return this.#parent!.objectsOf(position);
    const record = this.#recordOf[own]! - 1;
    return this.#objects.view(record === 0 ? 0 : this.#objectsEnd.at(record - 1), this.#objectsEnd.at(record));
  }

  /**
   * Adds the object numbers of the trees and blobs that a commit introduced to `found`. The commit must have a record
   * (see `cover`).
   */
  addObjectsOf(position: GraphPosition, found: NumberSet): void {
    const objects = this.objectsOf(position);
    for (let at = 0; at < objects.length; at += 2) found.add(objects[at]!);
  }

  /**
   * Returns the path numbers of the files, symbolic links and submodules in which the commit differs from its first
   * parent. Each number occurs once. The commit must have a record (see `cover`).
   */
  changedBy(position: GraphPosition): Int32Array {
    const own = position - this.graph.sharedSize;
    if (own < 0) return this.#parent!.changedBy(position);
    const record = this.#recordOf[own]! - 1;
    return this.#changed.view(record === 0 ? 0 : this.#pathsEnd.at(record - 1), this.#pathsEnd.at(record));
  }

  /**
   * Creates the missing records of the commits by comparing each commit with its first parent. Several calls may run
   * interleaved; each commit still gets only one record.
   */
  *cover(positions: Iterable<GraphPosition>): Steps<void> {
    const diff = new TreeDiff(this.graph.objects, this.paths);
    for (const position of positions) {
      if (this.has(position)) continue;
      if (position < this.graph.sharedSize) {
        yield* this.#parent!.coverOne(position);
        continue;
      }
      yield* this.#diffWithParent(diff, position);
      if (!this.has(position)) this.#add(position, diff);
      yield 1;
    }
  }

  /** Creates the record of one commit if it is missing. */
  *coverOne(position: GraphPosition): Steps<void> {
    if (!this.has(position)) yield* this.cover([position]);
  }

  /**
   * Returns an index that shares all present records of this index. `graph` is a copy of the commit graph that uses
   * another object reader (`CommitGraph.through`).
   */
  through(graph: CommitGraph): HistoryIndex {
    const index = new HistoryIndex(graph, this.#parent, this.paths);
    index.#recordOf = this.#recordOf;
    index.#objectsEnd = this.#objectsEnd;
    index.#pathsEnd = this.#pathsEnd;
    index.#objects = this.#objects;
    index.#changed = this.#changed;
    return index;
  }

  /**
   * Returns a copy of the index that contains all records itself. `graph` is a copy of the commit graph with equal
   * positions and without a parent graph (`CommitGraph.flattened`).
   */
  *flattened(graph: CommitGraph): Steps<HistoryIndex> {
    const flat = new HistoryIndex(graph, undefined, this.paths);
    for (let position = 0; position < graph.size; position++) {
      if (position % PIECE === 0) yield PIECE_COST;
      if (this.has(position)) flat.#keep(position, this.objectsOf(position), this.changedBy(position));
    }
    return flat;
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
    this.#end(position);
  }

  #keep(position: GraphPosition, objects: Int32Array, changed: Int32Array): void {
    this.#objects.append(objects);
    this.#changed.append(changed);
    this.#end(position);
  }

  /** Completes the record of a commit. The caller must have appended its content to `#objects` and `#changed`. */
  #end(position: GraphPosition): void {
    this.#objectsEnd.push(this.#objects.length);
    this.#pathsEnd.push(this.#changed.length);
    const own = position - this.graph.sharedSize;
    this.#recordOf = withRoom(this.#recordOf, this.graph.size - this.graph.sharedSize);
    this.#recordOf[own] = this.#objectsEnd.length;
  }
}

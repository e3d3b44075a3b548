import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { NONE } from '../object/tree-cursor.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
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
  /** All forks of a repository number paths alike. */
  readonly paths: PathTable;
  readonly #below: HistoryIndex | undefined;
  /** Per position of the graph's own: which record, + 1; 0 while there is none. */
  #recordOf = new Int32Array(0);
  // Where the parts of a record end; it starts where the record before it ends.
  #objectsEnd = new IntList();
  #pathsEnd = new IntList();
  #objects = new IntList();
  #changed = new IntList();

  /** `below`: the index of the graph that `graph` starts with. */
  constructor(
    readonly graph: CommitGraph,
    below?: HistoryIndex,
    paths = below?.paths ?? new PathTable(),
  ) {
    this.#below = below;
    this.paths = paths;
  }

  /** Commits indexed so far, here or below. */
  get size(): number {
    return this.#objectsEnd.length + (this.#below?.size ?? 0);
  }

  has(position: GraphPosition): boolean {
    const own = position - this.graph.sharedSize;
    return own < 0 ? this.#below!.has(position) : (this.#recordOf[own] ?? 0) > 0;
  }

  /**
   * Trees and blobs the commit introduced, each followed by what its first parent has at the same path, or -1.
   * Without objects that the first parent has elsewhere among what changed, so a renamed folder costs nothing.
   */
  objectsOf(position: GraphPosition): Int32Array {
    const own = position - this.graph.sharedSize;
    if (own < 0) return this.#below!.objectsOf(position);
    const record = this.#recordOf[own]! - 1;
    return this.#objects.view(record === 0 ? 0 : this.#objectsEnd.at(record - 1), this.#objectsEnd.at(record));
  }

  /** Adds what `objectsOf` the commit says was introduced. */
  addObjectsOf(position: GraphPosition, found: NumberSet): void {
    const objects = this.objectsOf(position);
    for (let at = 0; at < objects.length; at += 2) found.add(objects[at]!);
  }

  /** Files, links and gitlinks that differ from the first parent: path numbers, each once. */
  changedBy(position: GraphPosition): Int32Array {
    const own = position - this.graph.sharedSize;
    if (own < 0) return this.#below!.changedBy(position);
    const record = this.#recordOf[own]! - 1;
    return this.#changed.view(record === 0 ? 0 : this.#pathsEnd.at(record - 1), this.#pathsEnd.at(record));
  }

  /** Indexes the commits that are not yet. Several callers may be at it at once; they share the work. */
  *cover(positions: Iterable<GraphPosition>): Steps<void> {
    const diff = new TreeDiff(this.graph.objects, this.paths);
    for (const position of positions) {
      if (this.has(position)) continue;
      if (position < this.graph.sharedSize) {
        yield* this.#below!.coverOne(position);
        continue;
      }
      yield* this.#diffWithParent(diff, position);
      if (!this.has(position)) this.#add(position, diff);
      yield 1;
    }
  }

  /** Indexes one commit when it is not yet. */
  *coverOne(position: GraphPosition): Steps<void> {
    if (!this.has(position)) yield* this.cover([position]);
  }

  /** The same records for `graph`, which is the same `through` another reader. */
  through(graph: CommitGraph): HistoryIndex {
    const index = new HistoryIndex(graph, this.#below, this.paths);
    index.#recordOf = this.#recordOf;
    index.#objectsEnd = this.#objectsEnd;
    index.#pathsEnd = this.#pathsEnd;
    index.#objects = this.#objects;
    index.#changed = this.#changed;
    return index;
  }

  /** The same records for `graph`, which has the same positions and lies on no other. */
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

  /** Ends the record of a commit. */
  #end(position: GraphPosition): void {
    this.#objectsEnd.push(this.#objects.length);
    this.#pathsEnd.push(this.#changed.length);
    const own = position - this.graph.sharedSize;
    this.#recordOf = withRoom(this.#recordOf, this.graph.size - this.graph.sharedSize);
    this.#recordOf[own] = this.#objectsEnd.length;
  }
}

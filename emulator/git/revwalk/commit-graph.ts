import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { PIECE, PIECE_COST, runSync, type Steps } from '../../schedule/steps.js';
import { type CommitLinks, commitLinks } from '../object/commit.js';
import type { CommitRecord, LinkReader } from '../object/link-reader.js';
import { COMMIT, MissingObject, numberOf, type Oid } from '../object/object.js';
import { peelTags } from '../object/tag.js';

/** Index of a commit in the graph, counted from 0. It is greater than the positions of all ancestors of the commit. */
export type GraphPosition = number;

/**
 * Commit graph that the graph of a fork extends. A fork is a copy-on-write copy of a repository. It shares the commits
 * at positions below `size`. If `size` is undefined, it shares all positions until it adds its first own commit.
 */
export interface GraphBasis {
  readonly graph: CommitGraph;
  readonly size?: number | undefined;
}

/**
 * Commits of a repository, each parsed once. They are stored as a struct of arrays, indexed by position.
 *
 * The graph of a fork extends the graph of the original store ("parent graph"). Objects in both stores have equal
 * numbers. Positions less than `#firstPosition` belong to the parent graph.
 *
 * A commit gets its position after all its ancestors, so the positions are a topological order. A walk from high to low
 * positions visits every commit after all its descendants. Such a walk needs no queue and does not depend on commit
 * dates.
 */
export class CommitGraph {
  readonly #parent: CommitGraph | undefined;
  /** Position of the first commit that this graph stores itself. Lower positions are read from the parent graph. */
  #firstPosition: number;
  /**
   * Number of objects that the fork's object store shares with the original store; 0 without a parent graph. A commit
   * with a smaller object number belongs to the parent graph.
   */
  #firstObject: number;
  /**
   * Number of graphs below this one in the chain of parent graphs. An access to an old commit may have to follow the
   * whole chain.
   */
  readonly depth: number;
  /** Position of each commit plus 1, by object number minus `#firstObject`; 0 if the object has no position. */
  #positionOf = new Int32Array(0);
  /**
   * Position plus 1 of some shared commits, by object number: those that the parent graph had not loaded when this
   * graph added its first own commit. Undefined if there are no such commits.
   */
  #positionOfShared: Map<number, number> | undefined;
  // The following arrays have one item for each commit that this graph stores itself. The index of a commit is its
  // position minus `#firstPosition`:
  #objectOf = new IntList();
  #treeOf = new IntList();
  #authoredAt: number[] = [];
  #committedAt: number[] = [];
  /**
   * End of each commit's list of parents in `#parents`. The list of the commit at index `i` extends from `#parentsEnd[i
   * - 1]` to `#parentsEnd[i]` (exclusive).
   */
  #parentsEnd = new IntList();
  #parents = new IntList();

  constructor(
    readonly objects: LinkReader,
    basis?: GraphBasis,
  ) {
    this.#parent = basis?.graph;
    this.depth = basis === undefined ? 0 : basis.graph.depth + 1;
    this.#firstPosition = basis === undefined ? 0 : (basis.size ?? Number.POSITIVE_INFINITY);
    this.#firstObject = basis === undefined ? 0 : objects.size;
  }

  /** Number of commits with a position, including those of the parent graph. Valid positions are 0 to `size - 1`. */
  get size(): number {
    return this.sharedSize + this.#objectOf.length;
  }

  /** Number of positions that belong to the parent graph. They are the lowest positions. */
  get sharedSize(): number {
    return this.#parent === undefined ? 0 : Math.min(this.#firstPosition, this.#parent.size);
  }

  /**
   * Returns the position of the commit with this object number. Returns -1 if the commit has no position yet, which
   * means that neither it nor a descendant was loaded.
   */
  positionOf(commit: number): GraphPosition {
    if (commit >= this.#firstObject) return (this.#positionOf[commit - this.#firstObject] ?? 0) - 1;
    const position = this.#parent!.positionOf(commit);
    return position >= 0 && position < this.#firstPosition ? position : (this.#positionOfShared?.get(commit) ?? 0) - 1;
  }

  /**
   * Returns the object number of the commit at a position. Object numbers are indexes into the tables of the object
   * store.
   */
  objectOf(position: GraphPosition): number {
    return position < this.#firstPosition
      ? this.#parent!.objectOf(position)
      : this.#objectOf.at(position - this.#firstPosition);
  }

  oidOf(position: GraphPosition): Oid {
    return this.objects.oidOf(this.objectOf(position));
  }

  /** Returns the object number of the root tree of the commit at a position. */
  treeOf(position: GraphPosition): number {
    return position < this.#firstPosition
      ? this.#parent!.treeOf(position)
      : this.#treeOf.at(position - this.#firstPosition);
  }

  /** Returns the committer date in seconds since 1970. */
  committedAt(position: GraphPosition): number {
    return position < this.#firstPosition
      ? this.#parent!.committedAt(position)
      : this.#committedAt[position - this.#firstPosition]!;
  }

  /** Returns the author date in seconds since 1970. */
  authoredAt(position: GraphPosition): number {
    return position < this.#firstPosition
      ? this.#parent!.authoredAt(position)
      : this.#authoredAt[position - this.#firstPosition]!;
  }

  /**
   * Returns the positions of a commit's parents, in the order of the commit object. The result is a view of the graph's
   * memory and becomes invalid when commits are added to the graph.
   */
  parentsOf(position: GraphPosition): Int32Array {
    if (position < this.#firstPosition) return this.#parent!.parentsOf(position);
    const at = position - this.#firstPosition;
    return this.#parents.view(this.#parentsStart(at), this.#parentsEnd.at(at));
  }

  parentCount(position: GraphPosition): number {
    if (position < this.#firstPosition) return this.#parent!.parentCount(position);
    const at = position - this.#firstPosition;
    return this.#parentsEnd.at(at) - this.#parentsStart(at);
  }

  /**
   * Returns the position of a commit's parent. `index` counts the parents from 0. Returns -1 if the commit has fewer
   * parents.
   */
  parentOf(position: GraphPosition, index: number): GraphPosition {
    if (position < this.#firstPosition) return this.#parent!.parentOf(position, index);
    const own = position - this.#firstPosition;
    const at = this.#parentsStart(own) + index;
    return at < this.#parentsEnd.at(own) ? this.#parents.at(at) : -1;
  }

  /**
   * Returns the object number of the commit that `oid` refers to, directly or through annotated tags. Throws
   * `MissingObject` if `oid` refers to another type of object.
   */
  commitNumber(oid: Oid): number {
    const number = numberOf(this.objects, runSync(peelTags(this.objects, oid)));
    if (this.objects.typeOf(number) !== COMMIT) throw new MissingObject(oid, 'commit');
    return number;
  }

  /**
   * Returns the position of the commit that `oid` refers to, directly or through annotated tags. A commit without a
   * position is first loaded with all its ancestors, without yielding.
   */
  locate(oid: Oid): GraphPosition {
    const number = this.commitNumber(oid);
    if (this.positionOf(number) < 0) runSync(this.load([number]));
    return this.positionOf(number);
  }

  locateAll(oids: Iterable<Oid>): GraphPosition[] {
    return Array.from(new Set(oids), (oid) => this.locate(oid));
  }

  /**
   * Returns the tree, parents and dates of the commit with this object number. Tree and parents are object numbers, not
   * positions. The history is not loaded, so reading a single commit is fast.
   */
  linksOf(commit: number): CommitRecord {
    const position = this.positionOf(commit);
    if (position < 0) return this.#parse(commit);
    return {
      tree: this.treeOf(position),
      parents: Array.from(this.parentsOf(position), (parent) => this.objectOf(parent)),
      authoredAt: this.authoredAt(position),
      committedAt: this.committedAt(position),
    };
  }

  /**
   * Assigns positions to the commits with these object numbers and to all their ancestors. Uses an explicit stack,
   * because a long history would overflow the call stack.
   */
  *load(commits: Iterable<number>): Steps<void> {
    const parsed = new Map<number, CommitRecord>();
    const stack = [...commits];
    let work = 0;
    for (let commit = stack.at(-1); commit !== undefined; commit = stack.at(-1)) {
      if (++work % PIECE === 0) yield PIECE_COST;
      const links = parsed.get(commit);
      if (this.positionOf(commit) >= 0) {
        stack.pop();
      } else if (links) {
        // The commit is on top of the stack for the second time. Its parents were above it and have positions now, so
        // it gets the next position.
        stack.pop();
        parsed.delete(commit);
        this.#add(commit, links);
      } else if (this.#isLoadedBelow(commit)) {
        yield* this.#parent!.load([commit]);
      } else {
        const found = this.#parse(commit);
        parsed.set(commit, found);
        for (let at = found.parents.length - 1; at >= 0; at--) {
          const parent = found.parents[at]!;
          if (this.positionOf(parent) < 0) stack.push(parent);
        }
      }
    }
  }

  /**
   * Returns a graph that reads objects through `objects`, another reader of these objects. It shares the arrays of this
   * graph, and thus all present positions.
   */
  through(objects: LinkReader): CommitGraph {
    const graph = new CommitGraph(objects, this.#parent && { graph: this.#parent, size: this.sharedSize });
    graph.#firstObject = this.#firstObject;
    graph.#positionOf = this.#positionOf;
    graph.#positionOfShared = this.#positionOfShared;
    graph.#objectOf = this.#objectOf;
    graph.#treeOf = this.#treeOf;
    graph.#authoredAt = this.#authoredAt;
    graph.#committedAt = this.#committedAt;
    graph.#parentsEnd = this.#parentsEnd;
    graph.#parents = this.#parents;
    return graph;
  }

  /**
   * Returns a copy of the graph with unchanged positions. The copy contains all commits itself, so an access follows no
   * chain of parent graphs.
   */
  *flattened(): Steps<CommitGraph> {
    const flat = new CommitGraph(this.objects);
    for (let position = 0; position < this.size; position++) {
      const commit = this.objectOf(position);
      flat.#add(commit, this.linksOf(commit));
      if (position % PIECE === 0) yield PIECE_COST;
    }
    return flat;
  }

  /**
   * Returns true if the commit should be loaded into the parent graph, where all forks can use its position. This is
   * possible only until this graph assigns its first own position.
   */
  #isLoadedBelow(commit: number): boolean {
    return commit < this.#firstObject && this.#firstPosition === Number.POSITIVE_INFINITY;
  }

  /**
   * Returns the index in `#parents` of a commit's first parent. `at` is the position of the commit minus
   * `#firstPosition`.
   */
  #parentsStart(at: number): number {
    return at === 0 ? 0 : this.#parentsEnd.at(at - 1);
  }

  #parse(commit: number): CommitRecord {
    const { objects } = this;
    const record = objects.recordOf(commit);
    if (record !== undefined) return record;
    const links: CommitLinks = objects.peek(commit, commitLinks);
    return {
      tree: objects.find(links.tree),
      parents: links.parents.map((parent) => numberOf(objects, parent)),
      authoredAt: links.authoredAt,
      committedAt: links.committedAt,
    };
  }

  #add(commit: number, links: CommitRecord): void {
    if (this.#firstPosition === Number.POSITIVE_INFINITY) this.#firstPosition = this.#parent!.size;
    for (const parent of links.parents) this.#parents.push(this.positionOf(parent));
    this.#parentsEnd.push(this.#parents.length);
    this.#treeOf.push(links.tree);
    this.#authoredAt.push(links.authoredAt);
    this.#committedAt.push(links.committedAt);
    this.#objectOf.push(commit);
    this.#setPosition(commit, this.size);
  }

  #setPosition(commit: number, next: number): void {
    const at = commit - this.#firstObject;
    if (at < 0) {
      this.#positionOfShared ??= new Map();
      this.#positionOfShared.set(commit, next);
      return;
    }
    this.#positionOf = withRoom(this.#positionOf, at + 1);
    this.#positionOf[at] = next;
  }
}

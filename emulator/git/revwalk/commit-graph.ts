import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { PIECE, PIECE_COST, runSync, type Steps } from '../../schedule/steps.js';
import { type CommitLinks, commitLinks } from '../object/commit.js';
import type { CommitRecord, LinkReader } from '../object/link-reader.js';
import { COMMIT, MissingObject, numberOf, type Oid } from '../object/object.js';
import { peelTags } from '../object/tag.js';

/** A commit's position in the graph: a number from 0, larger than those of all its ancestors. */
export type GraphPosition = number;

/** What a graph starts with: positions below `size` of another one, or all that it has and gets until the graph adds its own. */
export interface GraphBasis {
  readonly graph: CommitGraph;
  readonly size?: number | undefined;
}

/**
 * The commits of a repository, each parsed once, in typed arrays by position.
 *
 * The graph of a fork starts with that of the store it is a fork of: the objects these have in common have the same
 * numbers, and positions before `#first` are those of the other graph.
 *
 * A commit gets its position only after all its ancestors have one. So positions are a topological order:
 * a walk from high positions to low ones meets every commit after all its descendants, whatever the
 * clocks of the committers said, and needs no queue but the positions themselves.
 */
export class CommitGraph {
  readonly #below: CommitGraph | undefined;
  /** The first position of its own. */
  #first: number;
  /** Objects that both stores have. */
  #firstObject: number;
  /** Graphs that lie below, each on the next. */
  readonly depth: number;
  /** By object number less `#firstObject`: position + 1; 0 where there is none. */
  #positionOf = new Int32Array(0);
  /** The same, for objects before that which the graph below had no position for. */
  #positionOfShared: Map<number, number> | undefined;
  // By position:
  #objectOf = new IntList();
  #treeOf = new IntList();
  #authoredAt: number[] = [];
  #committedAt: number[] = [];
  /** The parents of position p are `#parents` from `#parentsEnd[p - 1]` to before `#parentsEnd[p]`. */
  #parentsEnd = new IntList();
  #parents = new IntList();

  constructor(
    readonly objects: LinkReader,
    basis?: GraphBasis,
  ) {
    this.#below = basis?.graph;
    this.depth = basis === undefined ? 0 : basis.graph.depth + 1;
    this.#first = basis === undefined ? 0 : (basis.size ?? Number.POSITIVE_INFINITY);
    this.#firstObject = basis === undefined ? 0 : objects.size;
  }

  /** Positions given so far: valid positions are 0 to `size - 1`. */
  get size(): number {
    return this.sharedSize + this.#objectOf.length;
  }

  /** Positions of the graph below. */
  get sharedSize(): number {
    return this.#below === undefined ? 0 : Math.min(this.#first, this.#below.size);
  }

  /** The position of a commit by its object number, or -1 while it is not loaded. */
  positionOf(commit: number): GraphPosition {
    if (commit >= this.#firstObject) return (this.#positionOf[commit - this.#firstObject] ?? 0) - 1;
    const position = this.#below!.positionOf(commit);
    return position >= 0 && position < this.#first ? position : (this.#positionOfShared?.get(commit) ?? 0) - 1;
  }

  /** The object number of the commit. */
  objectOf(position: GraphPosition): number {
    return position < this.#first ? this.#below!.objectOf(position) : this.#objectOf.at(position - this.#first);
  }

  oidOf(position: GraphPosition): Oid {
    return this.objects.oidOf(this.objectOf(position));
  }

  /** The object number of the commit's tree. */
  treeOf(position: GraphPosition): number {
    return position < this.#first ? this.#below!.treeOf(position) : this.#treeOf.at(position - this.#first);
  }

  /** Seconds since 1970. */
  committedAt(position: GraphPosition): number {
    return position < this.#first ? this.#below!.committedAt(position) : this.#committedAt[position - this.#first]!;
  }

  /** Seconds since 1970. */
  authoredAt(position: GraphPosition): number {
    return position < this.#first ? this.#below!.authoredAt(position) : this.#authoredAt[position - this.#first]!;
  }

  /** The positions of the parents, in order; valid until the graph grows. */
  parentsOf(position: GraphPosition): Int32Array {
    if (position < this.#first) return this.#below!.parentsOf(position);
    const at = position - this.#first;
    return this.#parents.view(this.#parentsStart(at), this.#parentsEnd.at(at));
  }

  parentCount(position: GraphPosition): number {
    if (position < this.#first) return this.#below!.parentCount(position);
    const at = position - this.#first;
    return this.#parentsEnd.at(at) - this.#parentsStart(at);
  }

  /** The position of one parent; -1 beyond the last. */
  parentOf(position: GraphPosition, index: number): GraphPosition {
    if (position < this.#first) return this.#below!.parentOf(position, index);
    const own = position - this.#first;
    const at = this.#parentsStart(own) + index;
    return at < this.#parentsEnd.at(own) ? this.#parents.at(at) : -1;
  }

  /** The object number of the commit that `oid` is or, through tags, names; throws `MissingObject`. */
  commitNumber(oid: Oid): number {
    const number = numberOf(this.objects, runSync(peelTags(this.objects, oid)));
    if (this.objects.typeOf(number) !== COMMIT) throw new MissingObject(oid, 'commit');
    return number;
  }

  /** The position of the commit that `oid` is or, through tags, names, loading its history when needed. */
  locate(oid: Oid): GraphPosition {
    const number = this.commitNumber(oid);
    if (this.positionOf(number) < 0) runSync(this.load([number]));
    return this.positionOf(number);
  }

  locateAll(oids: Iterable<Oid>): GraphPosition[] {
    return Array.from(new Set(oids), (oid) => this.locate(oid));
  }

  /** What a commit says, without loading its history. Object numbers, not positions. */
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

  /** Gives a position to each of these commits (object numbers) and to everything they descend from. */
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
        // Everything pushed above it is done, so its ancestors are.
        stack.pop();
        parsed.delete(commit);
        this.#add(commit, links);
      } else if (this.#isLoadedBelow(commit)) {
        yield* this.#below!.load([commit]);
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

  /** The positions of now, read by way of `objects`, which has the same objects. */
  through(objects: LinkReader): CommitGraph {
    const graph = new CommitGraph(objects, this.#below && { graph: this.#below, size: this.sharedSize });
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

  /** A graph with the same positions that lies on no other. */
  *flattened(): Steps<CommitGraph> {
    const flat = new CommitGraph(this.objects);
    for (let position = 0; position < this.size; position++) {
      const commit = this.objectOf(position);
      flat.#add(commit, this.linksOf(commit));
      if (position % PIECE === 0) yield PIECE_COST;
    }
    return flat;
  }

  /** What both stores have is loaded for all forks, as long as the graph has no position of its own. */
  #isLoadedBelow(commit: number): boolean {
    return commit < this.#firstObject && this.#first === Number.POSITIVE_INFINITY;
  }

  /** Where the parents of the `at`th position of its own start. */
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
    if (this.#first === Number.POSITIVE_INFINITY) this.#first = this.#below!.size;
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

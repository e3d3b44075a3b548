import { withRoom } from '../memory/growable.js';
import { type CommitLinks, commitLinks } from '../object/commit.js';
import { COMMIT, MissingObject, numberOf, type ObjectReader, type Oid } from '../object/object.js';
import { peel } from '../object/tag.js';
import { atOnce, PIECE, PIECE_COST, type Steps } from '../schedule/steps.js';
import { IntList } from './int-list.js';

/** A commit's position in the graph: a number from 0, larger than those of all its ancestors. */
export type GraphPosition = number;

interface Links {
  readonly tree: number;
  /** Object numbers. */
  readonly parents: readonly number[];
  readonly authoredAt: number;
  readonly committedAt: number;
}

/**
 * The commits of a repository, each parsed once, in typed arrays by position.
 *
 * A commit gets its position only after all its ancestors have one. So positions are a topological order:
 * a walk from high positions to low ones meets every commit after all its descendants, whatever the
 * clocks of the committers said, and needs no queue but the positions themselves.
 */
export class CommitGraph {
  /** By object number: position + 1; 0 where there is none. */
  #positionOf = new Int32Array(0);
  // By position:
  readonly #objectOf = new IntList();
  readonly #treeOf = new IntList();
  readonly #authoredAt: number[] = [];
  readonly #committedAt: number[] = [];
  /** The parents of position p are `#parents` from `#parentsEnd[p - 1]` to before `#parentsEnd[p]`. */
  readonly #parentsEnd = new IntList();
  readonly #parents = new IntList();

  constructor(readonly objects: ObjectReader) {}

  /** Positions given so far: valid positions are 0 to `size - 1`. */
  get size(): number {
    return this.#objectOf.length;
  }

  /** The position of a commit by its object number, or -1 while it is not loaded. */
  positionOf(commit: number): GraphPosition {
    return (this.#positionOf[commit] ?? 0) - 1;
  }

  /** The object number of the commit. */
  objectOf(position: GraphPosition): number {
    return this.#objectOf.at(position);
  }

  oidOf(position: GraphPosition): Oid {
    return this.objects.oidOf(this.objectOf(position));
  }

  /** The object number of the commit's tree. */
  treeOf(position: GraphPosition): number {
    return this.#treeOf.at(position);
  }

  /** Seconds since 1970. */
  committedAt(position: GraphPosition): number {
    return this.#committedAt[position]!;
  }

  /** Seconds since 1970. */
  authoredAt(position: GraphPosition): number {
    return this.#authoredAt[position]!;
  }

  /** The positions of the parents, in order; valid until the graph grows. */
  parentsOf(position: GraphPosition): Int32Array {
    return this.#parents.view(this.#parentsStart(position), this.#parentsEnd.at(position));
  }

  parentCount(position: GraphPosition): number {
    return this.#parentsEnd.at(position) - this.#parentsStart(position);
  }

  /** The position of one parent; -1 beyond the last. */
  parentOf(position: GraphPosition, index: number): GraphPosition {
    const at = this.#parentsStart(position) + index;
    return at < this.#parentsEnd.at(position) ? this.#parents.at(at) : -1;
  }

  /** The object number of the commit that `oid` is or, through tags, names; throws `MissingObject`. */
  commitNumber(oid: Oid): number {
    const number = numberOf(this.objects, peel(this.objects, oid));
    if (this.objects.typeOf(number) !== COMMIT) throw new MissingObject(oid, 'commit');
    return number;
  }

  /** The position of the commit that `oid` is or, through tags, names, loading its history when needed. */
  locate(oid: Oid): GraphPosition {
    const number = this.commitNumber(oid);
    if (this.positionOf(number) < 0) atOnce(this.load([number]));
    return this.positionOf(number);
  }

  locateAll(oids: Iterable<Oid>): GraphPosition[] {
    return Array.from(new Set(oids), (oid) => this.locate(oid));
  }

  /** What a commit says, without loading its history. Object numbers, not positions. */
  linksOf(commit: number): Links {
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
    const parsed = new Map<number, Links>();
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

  #parentsStart(position: GraphPosition): number {
    return position === 0 ? 0 : this.#parentsEnd.at(position - 1);
  }

  #parse(commit: number): Links {
    const { objects } = this;
    const links: CommitLinks = objects.peek(commit, commitLinks);
    return {
      tree: objects.find(links.tree),
      parents: links.parents.map((parent) => numberOf(objects, parent)),
      authoredAt: links.authoredAt,
      committedAt: links.committedAt,
    };
  }

  #add(commit: number, links: Links): void {
    this.#positionOf = withRoom(this.#positionOf, commit + 1);
    for (const parent of links.parents) this.#parents.push(this.positionOf(parent));
    this.#parentsEnd.push(this.#parents.length);
    this.#treeOf.push(links.tree);
    this.#authoredAt.push(links.authoredAt);
    this.#committedAt.push(links.committedAt);
    this.#objectOf.push(commit);
    this.#positionOf[commit] = this.size;
  }
}

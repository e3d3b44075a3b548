import { withRoom } from '../memory/growable.js';
import { type CommitLinks, commitLinks } from '../object/commit.js';
import { COMMIT, MissingObject, numberOf, type ObjectReader, type Oid } from '../object/object.js';
import { peel } from '../object/tag.js';
import { atOnce, PIECE, PIECE_COST, type Steps } from '../schedule/steps.js';
import { IntList } from './int-list.js';

/** A commit's place in the graph: a number from 0, larger than those of all its ancestors. */
export type Place = number;

interface Links {
  readonly tree: number;
  /** Object numbers. */
  readonly parents: readonly number[];
  readonly authoredAt: number;
  readonly committedAt: number;
}

/**
 * The commits of a repository, each parsed once, in typed arrays by place.
 *
 * A commit gets its place only after all its ancestors have one. So places are a topological order:
 * a walk from high places to low ones meets every commit after all its descendants, whatever the
 * clocks of the committers said, and needs no queue but the places themselves.
 */
export class CommitGraph {
  /** By object number: place + 1; 0 where there is none. */
  #placeOf = new Int32Array(0);
  // By place:
  readonly #objectOf = new IntList();
  readonly #treeOf = new IntList();
  readonly #authoredAt: number[] = [];
  readonly #committedAt: number[] = [];
  /** The parents of place p are `#parents` from `#parentsEnd[p - 1]` to before `#parentsEnd[p]`. */
  readonly #parentsEnd = new IntList();
  readonly #parents = new IntList();

  constructor(readonly objects: ObjectReader) {}

  /** Places given so far: valid places are 0 to `size - 1`. */
  get size(): number {
    return this.#objectOf.length;
  }

  /** The place of a commit by its object number, or -1 while it is not loaded. */
  placeOf(commit: number): Place {
    return (this.#placeOf[commit] ?? 0) - 1;
  }

  /** The object number of the commit. */
  objectOf(place: Place): number {
    return this.#objectOf.at(place);
  }

  oidOf(place: Place): Oid {
    return this.objects.oidOf(this.objectOf(place));
  }

  /** The object number of the commit's tree. */
  treeOf(place: Place): number {
    return this.#treeOf.at(place);
  }

  /** Seconds since 1970. */
  committedAt(place: Place): number {
    return this.#committedAt[place]!;
  }

  /** Seconds since 1970. */
  authoredAt(place: Place): number {
    return this.#authoredAt[place]!;
  }

  /** The places of the parents, in order; valid until the graph grows. */
  parentsOf(place: Place): Int32Array {
    return this.#parents.view(this.#parentsStart(place), this.#parentsEnd.at(place));
  }

  parentCount(place: Place): number {
    return this.#parentsEnd.at(place) - this.#parentsStart(place);
  }

  /** The place of one parent; -1 beyond the last. */
  parentOf(place: Place, index: number): Place {
    const at = this.#parentsStart(place) + index;
    return at < this.#parentsEnd.at(place) ? this.#parents.at(at) : -1;
  }

  /** The object number of the commit that `oid` is or, through tags, names; throws `MissingObject`. */
  commitNumber(oid: Oid): number {
    const number = numberOf(this.objects, peel(this.objects, oid));
    if (this.objects.typeOf(number) !== COMMIT) throw new MissingObject(oid, 'commit');
    return number;
  }

  /** The place of the commit that `oid` is or, through tags, names, loading its history when needed. */
  locate(oid: Oid): Place {
    const number = this.commitNumber(oid);
    if (this.placeOf(number) < 0) atOnce(this.load([number]));
    return this.placeOf(number);
  }

  locateAll(oids: Iterable<Oid>): Place[] {
    return Array.from(new Set(oids), (oid) => this.locate(oid));
  }

  /** What a commit says, without loading its history. Object numbers, not places. */
  linksOf(commit: number): Links {
    const place = this.placeOf(commit);
    if (place < 0) return this.#parse(commit);
    return {
      tree: this.treeOf(place),
      parents: Array.from(this.parentsOf(place), (parent) => this.objectOf(parent)),
      authoredAt: this.authoredAt(place),
      committedAt: this.committedAt(place),
    };
  }

  /** Gives a place to each of these commits (object numbers) and to everything they descend from. */
  *load(commits: Iterable<number>): Steps<void> {
    const parsed = new Map<number, Links>();
    const stack = [...commits];
    let work = 0;
    for (let commit = stack.at(-1); commit !== undefined; commit = stack.at(-1)) {
      if (++work % PIECE === 0) yield PIECE_COST;
      const links = parsed.get(commit);
      if (this.placeOf(commit) >= 0) {
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
          if (this.placeOf(parent) < 0) stack.push(parent);
        }
      }
    }
  }

  #parentsStart(place: Place): number {
    return place === 0 ? 0 : this.#parentsEnd.at(place - 1);
  }

  #parse(commit: number): Links {
    const { objects } = this;
    const links: CommitLinks = commitLinks(objects.peek(commit));
    return {
      tree: objects.find(links.tree),
      parents: links.parents.map((parent) => numberOf(objects, parent)),
      authoredAt: links.authoredAt,
      committedAt: links.committedAt,
    };
  }

  #add(commit: number, links: Links): void {
    this.#placeOf = withRoom(this.#placeOf, commit + 1);
    for (const parent of links.parents) this.#parents.push(this.placeOf(parent));
    this.#parentsEnd.push(this.#parents.length);
    this.#treeOf.push(links.tree);
    this.#authoredAt.push(links.authoredAt);
    this.#committedAt.push(links.committedAt);
    this.#objectOf.push(commit);
    this.#placeOf[commit] = this.size;
  }
}

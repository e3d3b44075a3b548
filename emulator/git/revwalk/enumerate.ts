import { IntList } from '../../memory/int-list.js';
import { PIECE, PIECE_COST, runSync, type Steps } from '../../schedule/steps.js';
import type { LinkReader } from '../object/link-reader.js';
import { BLOB, COMMIT, MissingObject, numberOf, type Oid, TAG, TREE } from '../object/object.js';
import { peelTags, tagTarget } from '../object/tag.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { isEverything, NO_FILTER, type ObjectFilter } from './filter.js';
import type { HistoryIndex } from './history-index.js';
import { NumberSet } from './number-set.js';
import { difference } from './reachability.js';
import { SendPlan } from './send-plan.js';
import { addClosure, addToDepth } from './tree-closure.js';

export interface EnumerateRequest {
  /**
   * Ids of the objects that the client requests, of any type. They are sent even if the filter excludes them. Planning
   * throws `MissingObject` if one of them does not exist.
   */
  readonly wants: Iterable<Oid>;
  /** Ids of objects that the client has. It also has everything reachable from them. Unknown ids are ignored. */
  readonly haves?: Iterable<Oid>;
  /** Commits whose parents the client does not have, because its clone is shallow. */
  readonly clientShallow?: ReadonlySet<Oid>;
  /**
   * Commits that are sent without their parents; `clientShallow` by default. A commit in `clientShallow` but not in
   * `boundary` is unshallowed, which means that its parents are sent too.
   */
  readonly boundary?: ReadonlySet<Oid>;
  readonly filter?: ObjectFilter | undefined;
}

interface Selection {
  /**
   * Object numbers of trees whose whole content must be sent, because the client does not receive the parents of their
   * commits.
   */
  readonly roots: readonly number[];
  /**
   * Positions of the commits for which only the objects that they introduced must be sent. All other objects of such a
   * commit are in its first parent, which the client has or receives.
   */
  readonly followed: Int32Array;
}

/**
 * Number of commits above which a clone reads complete trees. In a smaller clone, the tree of each commit is compared
 * with the tree of its parent.
 */
const MANY = 1000;
const NO_POSITIONS = new Int32Array(0);

/**
 * Computes the objects that a fetch must send: all objects reachable from the wants but not from the haves. The result
 * may contain objects that the client already has through other commits.
 */
export function planSend(graph: CommitGraph, index: HistoryIndex, request: EnumerateRequest): Steps<SendPlan> {
  return new Planner(graph, index, request).plan();
}

class Planner {
  readonly #objects: LinkReader;
  readonly #filter: ObjectFilter;
  readonly #boundary: ReadonlySet<number>;
  readonly #clientShallow: ReadonlySet<number>;
  readonly #found: NumberSet;
  /**
   * Object numbers that are sent even if the filter excludes them. These are the wants, and everything in the tag
   * chains of wanted tags.
   */
  readonly #explicit = new Set<number>();
  /**
   * Trees and blobs that the client is known to have. They shorten complete trees that must be sent. The set is empty
   * if no complete tree must be sent.
   */
  readonly #known: NumberSet;
  readonly #haves: readonly Oid[];
  readonly #wantedCommits: number[] = [];
  readonly #wantedTrees: number[] = [];

  constructor(
    readonly graph: CommitGraph,
    readonly index: HistoryIndex,
    readonly request: EnumerateRequest,
  ) {
    const { clientShallow = new Set<Oid>(), boundary = clientShallow, haves = [] } = request;
    this.#haves = [...haves];
    this.#objects = graph.objects;
    this.#filter = request.filter ?? NO_FILTER;
    this.#boundary = this.#numbersOf(boundary);
    this.#clientShallow = this.#numbersOf(clientShallow);
    const { size } = graph.objects;
    this.#found = new NumberSet(size);
    this.#known = new NumberSet(size);
  }

  *plan(): Steps<SendPlan> {
    for (const want of this.request.wants) yield* this.#addWant(numberOf(this.#objects, want));
    if (this.#isForNewcomer() && this.#objects.allowsPackReuse?.(this.#explicit)) return this.#everything();
    const unshallowed = [...this.#clientShallow].filter((commit) => !this.#boundary.has(commit));
    for (const commit of unshallowed) this.#wantedCommits.push(...this.graph.linksOf(commit).parents);
    const haves = yield* this.#loadHaves();
    const { roots, followed } = yield* this.#selectCommits(haves);
    if (this.#filter.depth < Number.POSITIVE_INFINITY) {
      yield* this.#addToDepth(roots, followed);
      return yield* this.#finish(NO_POSITIONS);
    }
    if (roots.length > 0 || unshallowed.length > 0) yield* this.#addKnown(haves);
    yield* this.#addTrees([...roots, ...this.#wantedTrees]);
    const isAll = haves.length === 0 && roots.length === 0 && followed.length > MANY;
    const compared = isAll ? yield* this.#addRecorded(followed) : followed;
    yield* this.index.cover(compared);
    for (const position of compared) this.index.addObjectsOf(position, this.#found);
    return yield* this.#finish(compared);
  }

  /**
   * Adds the complete trees of the commits whose link records (decoded trees and parents) are stored. Reading complete
   * trees is faster than comparing each commit with its parent. The result does not differ, because this function is
   * called only for a client without commits.
   *
   * Returns the positions of the commits without a link record. Their changes are listed as usual, because the previous
   * versions of their objects are useful as delta bases.
   */
  *#addRecorded(positions: Int32Array): Steps<Int32Array> {
    const trees = new IntList();
    const others = new IntList();
    for (let index = 0; index < positions.length; index++) {
      const position = positions[index]!;
      if (this.#objects.hasRecord(this.graph.objectOf(position))) trees.push(this.graph.treeOf(position));
      else others.push(position);
      if (index % PIECE === 0) yield PIECE_COST;
    }
    yield* this.#addTrees(trees.view());
    return others.view();
  }

  /**
   * Returns true if the request is a full clone. The client then has no objects, and no filter or depth excludes any.
   */
  #isForNewcomer(): boolean {
    return this.#haves.length + this.#boundary.size + this.#clientShallow.size === 0 && isEverything(this.#filter);
  }

  #everything(): SendPlan {
    const all = Int32Array.from({ length: this.#found.bound }, (_, number) => number);
    return new SendPlan(all, this.index, NO_POSITIONS, this.#known, false);
  }

  #numbersOf(oids: Iterable<Oid>): Set<number> {
    const numbers = Array.from(oids, (oid) => this.#objects.find(oid));
    return new Set(numbers.filter((number) => number >= 0));
  }

  /**
   * Adds one requested object. If it is an annotated tag, also adds all other tags in its chain and the object at the
   * end of the chain.
   */
  *#addWant(want: number): Steps<void> {
    let number = want;
    while (this.#objects.typeOf(number) === TAG) {
      if (this.#explicit.has(number)) return;
      this.#explicit.add(number);
      if (this.#explicit.size % PIECE === 0) yield PIECE_COST;
      number = numberOf(this.#objects, tagTarget(this.#objects.read(number)));
    }
    const type = this.#objects.typeOf(number);
    if (type === COMMIT) this.#wantedCommits.push(number);
    if (type === TREE) this.#wantedTrees.push(number);
    this.#explicit.add(number);
  }

  /**
   * Returns the positions of the commits that the client's haves refer to, directly or through annotated tags. Ids that
   * are unknown or do not lead to a commit are ignored.
   */
  *#loadHaves(): Steps<GraphPosition[]> {
    const positions: GraphPosition[] = [];
    for (const oid of this.#haves) {
      try {
        const number = this.#objects.find(runSync(peelTags(this.#objects, oid)));
        if (number < 0 || this.#objects.typeOf(number) !== COMMIT) continue;
        yield* this.graph.load([number]);
        positions.push(this.graph.positionOf(number));
      } catch (error) {
        if (!(error instanceof MissingObject)) throw error;
      }
    }
    return positions;
  }

  /**
   * Selects the commits that the client lacks and adds them to `#found`. Returns the trees of the selected commits that
   * are sent without parents, and the positions of all others.
   */
  *#selectCommits(haves: readonly GraphPosition[]): Steps<Selection> {
    const { graph } = this;
    const isOnBoundary = (position: GraphPosition) => this.#boundary.has(graph.objectOf(position));
    const isClientShallow = (position: GraphPosition) => this.#clientShallow.has(graph.objectOf(position));
    const wants = this.#wantedCommits;
    if (haves.length === 0 && wants.every((commit) => this.#boundary.has(commit))) {
      // A fetch with depth 1 sends only the wanted commits. Their history is therefore not loaded.
      for (const commit of wants) this.#found.add(commit);
      return { roots: wants.map((commit) => graph.linksOf(commit).tree), followed: NO_POSITIONS };
    }
    yield* graph.load(wants);
    const positions = yield* difference(graph, {
      wants: wants.map((commit) => graph.positionOf(commit)),
      haves,
      ...(this.#boundary.size > 0 && { wantsEnd: isOnBoundary }),
      ...(this.#clientShallow.size > 0 && { havesEnd: isClientShallow }),
    });
    for (let index = 0; index < positions.length; index++) {
      this.#found.add(graph.objectOf(positions[index]!));
      if (index % PIECE === 0) yield PIECE_COST;
    }
    if (this.#boundary.size === 0) return { roots: [], followed: positions };
    return {
      roots: Array.from(positions.filter(isOnBoundary), (position) => graph.treeOf(position)),
      followed: positions.filter((position) => !isOnBoundary(position)),
    };
  }

  /**
   * Adds all trees and blobs of the commits that the client has to `#known`. They are then not sent again as part of
   * complete trees.
   */
  *#addKnown(haves: readonly GraphPosition[]): Steps<void> {
    const trees = haves.map((position) => this.graph.treeOf(position));
    for (const commit of this.#clientShallow) trees.push(this.graph.linksOf(commit).tree);
    yield* addClosure(this.#objects, trees, this.#known, new NumberSet(this.#objects.size));
  }

  *#addTrees(trees: Iterable<number>): Steps<void> {
    const complete = new NumberSet(this.#objects.size);
    complete.addAll(this.#known);
    yield* addClosure(this.#objects, trees, this.#found, complete);
  }

  /**
   * Adds the trees and blobs of the sent commits down to the depth of the filter (`tree:<depth>`). For a parent that is
   * not sent, the objects down to this depth are added to `#known`, because the client has this parent.
   */
  *#addToDepth(roots: readonly number[], followed: Int32Array): Steps<void> {
    const { graph } = this;
    const edges = new Set<number>();
    const trees = [...roots];
    for (const position of followed) {
      trees.push(graph.treeOf(position));
      for (const parent of graph.parentsOf(position)) {
        if (!this.#found.has(graph.objectOf(parent))) edges.add(graph.treeOf(parent));
      }
    }
    const limit = this.#filter.depth;
    const depths = new Map<number, number>();
    yield* addToDepth(this.#objects, edges, 0, limit, this.#known, depths);
    yield* addToDepth(this.#objects, trees, 0, limit, this.#found, depths);
    // The walk starts at depth -1. For a requested tree, Git sends one level more than the filter allows for the tree
    // of a commit.
    yield* addToDepth(this.#objects, this.#wantedTrees, -1, limit, this.#found, depths);
  }

  *#finish(followed: Int32Array): Steps<SendPlan> {
    this.#found.deleteAll(this.#known);
    for (const object of this.#explicit) {
      if (this.#objects.typeOf(object) !== COMMIT) this.#found.add(object);
    }
    const filter = this.#filter;
    const all = this.#found.numbers();
    if (isEverything(filter)) return new SendPlan(all, this.index, followed, this.#known, false);
    let length = 0;
    for (let index = 0; index < all.length; index++) {
      const object = all[index]!;
      if (this.#passes(object, filter)) all[length++] = object;
      if (index % PIECE === 0) yield PIECE_COST;
    }
    return new SendPlan(all.slice(0, length), this.index, followed, this.#known, true);
  }

  #passes(number: number, filter: ObjectFilter): boolean {
    const type = this.#objects.typeOf(number);
    const isSelected = (filter.types & (1 << type)) !== 0;
    if (isSelected && (type !== BLOB || this.#objects.sizeOf(number) < filter.blobBytes)) return true;
    return this.#explicit.has(number);
  }
}

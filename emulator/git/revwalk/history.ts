import type { Meter } from '../../schedule/meter.js';
import { runSync, runYielding } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { EMPTY_TREE_OID, type Oid } from '../object/object.js';
import { NONE } from '../object/tree-cursor.js';
import { CommitGraph, type GraphBasis, type GraphPosition } from './commit-graph.js';
import { type DepthRequest, findShallowBoundary, type ShallowBoundary } from './depth.js';
import { type EnumerateRequest, planSend } from './enumerate.js';
import { HistoryIndex } from './history-index.js';
import { lastModified, lastModifiedEntries } from './last-modified.js';
import { mergeBases } from './merge-base.js';
import { NumberSet } from './number-set.js';
import { aheadBehind, allReach, difference, unreached } from './reachability.js';
import type { SendPlan } from './send-plan.js';
import { pathVisit, walkEach } from './walk.js';

/**
 * Maximum number of commit graphs in a chain. Each fork of a fork adds a graph to the chain, and an access may have to
 * follow the whole chain. `extend` replaces a longer chain by a single graph.
 */
const MAX_GRAPHS = 8;

export interface CommitSummary {
  readonly oid: Oid;
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  /** Committer date in seconds since 1970. */
  readonly committedAt: number;
  /** Author date in seconds since 1970. */
  readonly authoredAt: number;
}

export interface LogOptions {
  readonly tips: Iterable<Oid>;
  /**
   * File or folder to which the log is limited: only commits that change it are shown. Git's default history
   * simplification applies.
   */
  readonly path?: ByteString;
}

/**
 * Queries about the commits of a repository: ancestry, logs, the objects that a fetch must send, and the commit that
 * last modified a path.
 *
 * Results are cached, because published objects never change. Commits are cached in a graph of typed arrays. The
 * objects that each commit introduced are cached in an index, which is filled on demand.
 *
 * An id passed to a method may be the id of a commit or of an annotated tag that leads to a commit. Methods throw
 * `MissingObject` for an id that does not exist or does not lead to a commit.
 */
export class History {
  #graph: CommitGraph;
  #index: HistoryIndex;

  /**
   * Creates a history for the object store `objects`. If the store is a fork, `basis` is the history of the original
   * store; otherwise undefined.
   */
  constructor(objects: LinkReader, basis?: HistoryBasis) {
    this.#graph = new CommitGraph(objects, basis);
    this.#index = new HistoryIndex(this.#graph, basis?.index);
  }

  /**
   * Returns a history for a read-only copy of the object store. The copy is a fork to which nothing is added. The new
   * history contains all commits that are loaded now, and shares the results that it computes with this history.
   */
  kept(objects: LinkReader): History {
    const graph = this.#graph.through(objects);
    return new History(objects, { graph, index: this.#index.through(graph), size: graph.size });
  }

  /**
   * Returns a history for a writable fork of the object store. Until the fork has its own commits, its results are
   * cached in this history, where all forks can use them.
   */
  fork(objects: LinkReader): History {
    return new History(objects, { graph: this.#graph, index: this.#index });
  }

  /** Commit graph, for walks that are implemented outside this class. */
  get graph(): CommitGraph {
    return this.#graph;
  }

  commit(oid: Oid): CommitSummary {
    const { objects } = this.#graph;
    const number = this.#graph.commitNumber(oid);
    const { tree, parents, committedAt, authoredAt } = this.#graph.linksOf(number);
    return {
      oid: objects.oidOf(number),
      tree: tree === NONE ? EMPTY_TREE_OID : objects.oidOf(tree),
      parents: parents.map((parent) => objects.oidOf(parent)),
      committedAt,
      authoredAt,
    };
  }

  /** Returns true if `descendant` is `ancestor` or descends from it. */
  isAncestor(ancestor: Oid, descendant: Oid): boolean {
    return this.reaches([descendant], ancestor);
  }

  /** Returns true if any of the tips is `commit` or descends from it. */
  reaches(tips: Iterable<Oid>, commit: Oid): boolean {
    return unreached(this.#graph, this.#graph.locateAll(tips), [this.#graph.locate(commit)]).length === 0;
  }

  /** Returns the ids in `commits` that are not reachable from any tip. Ids of unknown commits are included. */
  async unreached(tips: Iterable<Oid>, commits: Iterable<Oid>, meter: Meter): Promise<Oid[]> {
    const graph = this.#graph;
    const positions = await this.#loadAll(tips, meter);
    const sought = Array.from(commits, (oid) => ({ oid, position: this.#loadedPositionOf(oid) }));
    const loaded = sought.map(({ position }) => position).filter((position) => position >= 0);
    const left = new Set(unreached(graph, positions, loaded));
    // A commit without a position is not reachable. Loading the tips has assigned positions to all their ancestors.
    return sought.filter(({ position }) => position < 0 || left.has(position)).map(({ oid }) => oid);
  }

  /**
   * Returns true if each tip is one of `commits` or descends from one of them. Ids in `commits` that are unknown or not
   * loaded are ignored. They cannot be ancestors of a tip, because loading the tips has loaded all their ancestors.
   */
  async allReach(tips: Iterable<Oid>, commits: Iterable<Oid>, meter: Meter): Promise<boolean> {
    const positions = await this.#loadAll(tips, meter);
    const targets = Array.from(commits, (oid) => this.#loadedPositionOf(oid)).filter((position) => position >= 0);
    return allReach(this.#graph, positions, targets);
  }

  async #loadAll(tips: Iterable<Oid>, meter: Meter): Promise<GraphPosition[]> {
    const commits = Array.from(tips, (tip) => this.#graph.commitNumber(tip));
    await runYielding(this.#graph.load(commits), meter);
    return commits.map((commit) => this.#graph.positionOf(commit));
  }

  /** Returns the position of a commit in the graph; -1 if the commit is unknown or not loaded. */
  #loadedPositionOf(oid: Oid): GraphPosition {
    const number = this.#graph.objects.find(oid);
    return number < 0 ? -1 : this.#graph.positionOf(number);
  }

  /**
   * Returns the best common ancestors of two commits, as `git merge-base --all` prints them. The result is empty if the
   * histories are unrelated.
   */
  mergeBases(a: Oid, b: Oid): Oid[] {
    const [left, right] = [this.#graph.locate(a), this.#graph.locate(b)];
    return mergeBases(this.#graph, left, right).map((position) => this.#graph.oidOf(position));
  }

  /**
   * Returns two numbers of commits. `ahead` counts the commits that are reachable only from `a`, `behind` those
   * reachable only from `b`.
   */
  aheadBehind(a: Oid, b: Oid): { ahead: number; behind: number } {
    const [left, right] = [this.#graph.locate(a), this.#graph.locate(b)];
    return aheadBehind(this.#graph, left, right);
  }

  /**
   * Yields the ids of the commits that `git log` shows, in its order. The walk continues only while the caller reads,
   * so reading the start of a long log is cheap.
   */
  *log(options: LogOptions): IterableIterator<Oid> {
    for (const oid of this.logEach(options)) if (oid !== undefined) yield oid;
  }

  /**
   * Yields the ids that `log` yields, and `undefined` for each visited commit that the log does not show. At these
   * points, the caller can yield to the event loop.
   */
  *logEach({ tips, path }: LogOptions): IterableIterator<Oid | undefined> {
    const graph = this.#graph;
    const visit =
      path === undefined
        ? (position: GraphPosition) => ({ isShown: true, parents: graph.parentsOf(position).slice() })
        : pathVisit(graph, this.#index, path);
    for (const position of walkEach(graph, graph.locateAll(tips), visit)) {
      yield position === undefined ? undefined : graph.oidOf(position);
    }
  }

  /**
   * Returns the ids of at most `max` commits that are reachable from `head` but not from `base`, in the order of `git
   * log <base>..<head>`.
   */
  logSince(base: Oid, head: Oid, max: number): Oid[] {
    const graph = this.#graph;
    const [from, to] = [graph.locate(base), graph.locate(head)];
    const own = new NumberSet(graph.size);
    for (const position of runSync(difference(graph, { wants: [to], haves: [from] }))) own.add(position);
    const visit = (position: GraphPosition) => ({
      isShown: true,
      parents: graph.parentsOf(position).filter((parent) => own.has(parent)),
    });
    const found: Oid[] = [];
    for (const position of walkEach(graph, own.has(to) ? [to] : [], visit)) {
      found.push(graph.oidOf(position!));
      if (found.length === max) break;
    }
    return found;
  }

  /**
   * Computes the objects that a fetch must send. The result also contains previous versions of these objects, which are
   * good delta bases for the pack.
   */
  plan(request: EnumerateRequest, meter: Meter): Promise<SendPlan> {
    return runYielding(planSend(this.#graph, this.#index, request), meter);
  }

  /**
   * Computes the shallow boundary of a fetch with a depth limit. The boundary consists of the commits that are sent
   * without parents. Throws `NothingSelected` if the request excludes all wanted commits.
   */
  shallowBoundary(request: DepthRequest, meter: Meter): Promise<ShallowBoundary> {
    return runYielding(findShallowBoundary(this.#graph, request), meter);
  }

  /**
   * Returns the commit that last changed each file, symbolic link and submodule in the tree of `commit`, by path. For
   * each path, `git log -1 -- <path>` shows this commit. The paths are in the order of Git's index. `under` limits the
   * result to one file or folder; undefined for all paths.
   */
  async lastModified(commit: Oid, meter: Meter, under?: ByteString): Promise<Map<ByteString, Oid>> {
    await this.extend([commit], meter);
    return runYielding(lastModified(this.#graph, this.#index, this.#graph.locate(commit), under), meter);
  }

  /**
   * Returns the commit that last changed each entry of a folder in the tree of `commit`, by the name of the entry. For
   * each entry, `git log -1 -- <path>` shows this commit. `folder` is empty for the root.
   */
  async lastModifiedEntries(commit: Oid, folder: ByteString, meter: Meter): Promise<Map<ByteString, Oid>> {
    await this.extend([commit], meter);
    const tip = this.#graph.locate(commit);
    return runYielding(lastModifiedEntries(this.#graph, this.#index, tip, folder), meter);
  }

  /**
   * Loads the commits of a push in time slices. The synchronous methods of this class then find the commits loaded and
   * do not block the event loop. If the index of introduced objects is in use, the commits are added to it too. The
   * cost is proportional to the number of new commits.
   */
  async extend(tips: Iterable<Oid>, meter: Meter): Promise<void> {
    if (this.#graph.depth > MAX_GRAPHS) await this.#flatten(meter);
    const graph = this.#graph;
    const first = graph.size;
    const commits = Array.from(tips, (tip) => graph.commitNumber(tip));
    await runYielding(graph.load(commits), meter);
    if (this.#index.size > 0 && graph.size > first)
      await runYielding(this.#index.cover(range(first, graph.size)), meter);
  }

  /** Replaces the chain of commit graphs by a single graph. Forks of forks create such chains. */
  async #flatten(meter: Meter): Promise<void> {
    const [graph, index] = [this.#graph, this.#index];
    const flatGraph = await runYielding(graph.flattened(), meter);
    const flatIndex = await runYielding(index.flattened(flatGraph), meter);
    // The flat graph is discarded if a push added commits in the meantime, because it does not contain them. The next
    // push tries again.
    if (this.#graph !== graph || graph.size !== flatGraph.size) return;
    this.#graph = flatGraph;
    this.#index = flatIndex;
  }
}

/** Commit graph and history index of an original object store. The history of a fork of this store is based on them. */
export interface HistoryBasis extends GraphBasis {
  readonly index: HistoryIndex;
}

function* range(start: number, end: number): IterableIterator<number> {
  for (let at = start; at < end; at++) yield at;
}

import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { EMPTY_TREE_OID, type Oid } from '../object/object.js';
import { NONE } from '../object/tree-cursor.js';
import { CommitGraph, type GraphBasis, type GraphPosition } from './commit-graph.js';
import { type DepthRequest, findShallowBoundary, type ShallowBoundary } from './depth.js';
import { type EnumerateRequest, planSend } from './enumerate.js';
import { HistoryIndex } from './history-index.js';
import { lastModified } from './last-modified.js';
import { mergeBases } from './merge-base.js';
import { aheadBehind, allReach, unreached } from './reachability.js';
import type { SendPlan } from './send-plan.js';
import { pathVisit, walkEach } from './walk.js';

/** Maximum length of the chain of graphs; a longer chain is flattened into one graph. */
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
  /** Limits the log to commits that change this file or folder, with Git's default history simplification. */
  readonly path?: ByteString;
}

/**
 * Queries over the commits of a repository: ancestry, logs, the objects of a fetch, the commit that last modified a
 * path.
 *
 * Everything is derived from published objects, which never change, so it is cached: commits in a graph of typed
 * arrays, and the objects that each commit introduced in an index that is filled on demand. Ids may be those of tags of
 * commits. Methods throw `MissingObject` for an id that does not exist or is not a commit.
 */
export class History {
  #graph: CommitGraph;
  #index: HistoryIndex;

  /** Creates a history. `basis` is the history of the store that `objects` is a fork of. */
  constructor(objects: LinkReader, basis?: HistoryBasis) {
    this.#graph = new CommitGraph(objects, basis);
    this.#index = new HistoryIndex(this.#graph, basis?.index);
  }

  /**
   * Returns a history for a read-only fork of the store. It contains everything known now, and shares what is computed
   * in the fork.
   */
  kept(objects: LinkReader): History {
    const graph = this.#graph.through(objects);
    return new History(objects, { graph, index: this.#index.through(graph), size: graph.size });
  }

  /**
   * Returns a history for a fork of the store. Until the fork has its own commits, results are cached in this history,
   * for all forks.
   */
  fork(objects: LinkReader): History {
    return new History(objects, { graph: this.#graph, index: this.#index });
  }

  /** Graph of the commits by position, for walks outside this class. */
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

  /** Returns those of `commits` that are not reachable from any of the tips. */
  async unreached(tips: Iterable<Oid>, commits: Iterable<Oid>, meter: Meter): Promise<Oid[]> {
    const graph = this.#graph;
    const positions = await this.#loadAll(tips, meter);
    const sought = Array.from(commits, (oid) => ({ oid, position: this.#loadedPositionOf(oid) }));
    const loaded = sought.map(({ position }) => position).filter((position) => position >= 0);
    const left = new Set(unreached(graph, positions, loaded));
    // A commit that is not loaded with the tips is not reachable from them.
    return sought.filter(({ position }) => position < 0 || left.has(position)).map(({ oid }) => oid);
  }

  /** Returns true if each of the tips is one of `commits` or descends from one. Ignores ids that are not commits. */
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

  /** Returns the position of a commit; -1 if it is not loaded. */
  #loadedPositionOf(oid: Oid): GraphPosition {
    const number = this.#graph.objects.find(oid);
    return number < 0 ? -1 : this.#graph.positionOf(number);
  }

  /** Returns the best common ancestors, as `git merge-base --all` prints them; none if the histories are unrelated. */
  mergeBases(a: Oid, b: Oid): Oid[] {
    const [left, right] = [this.#graph.locate(a), this.#graph.locate(b)];
    return mergeBases(this.#graph, left, right).map((position) => this.#graph.oidOf(position));
  }

  /** Returns the number of commits reachable only from `a`, and of those reachable only from `b`. */
  aheadBehind(a: Oid, b: Oid): { ahead: number; behind: number } {
    const [left, right] = [this.#graph.locate(a), this.#graph.locate(b)];
    return aheadBehind(this.#graph, left, right);
  }

  /** Yields commit ids in the order and selection of `git log`. Lazy: walks only as far as the caller reads. */
  *log(options: LogOptions): IterableIterator<Oid> {
    for (const oid of this.logEach(options)) if (oid !== undefined) yield oid;
  }

  /** Like `log`, but also yields `undefined` for each visited commit that is not shown. */
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

  /** Computes the objects that a fetch must send, with information that helps to write a small pack. */
  plan(request: EnumerateRequest, meter: Meter): Promise<SendPlan> {
    return runYielding(planSend(this.#graph, this.#index, request), meter);
  }

  /** Computes the shallow boundary of a fetch with a depth. Throws `NothingSelected`. */
  shallowBoundary(request: DepthRequest, meter: Meter): Promise<ShallowBoundary> {
    return runYielding(findShallowBoundary(this.#graph, request), meter);
  }

  /**
   * Returns, for each file, symbolic link and submodule of the commit's tree, the commit that `git log -1 -- <path>`
   * shows. The order is that of Git's index. `under` limits the result to one file or folder.
   */
  async lastModified(commit: Oid, meter: Meter, under?: ByteString): Promise<Map<ByteString, Oid>> {
    await this.extend([commit], meter);
    return runYielding(lastModified(this.#graph, this.#index, this.#graph.locate(commit), under), meter);
  }

  /**
   * Loads the commits of a push in slices, so that the synchronous methods find them loaded. Also extends the index if
   * it is in use. The cost is proportional to the new commits.
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

  /** Joins a long chain of graphs into one, after many forks of forks with own commits. */
  async #flatten(meter: Meter): Promise<void> {
    const [graph, index] = [this.#graph, this.#index];
    const flatGraph = await runYielding(graph.flattened(), meter);
    const flatIndex = await runYielding(index.flattened(flatGraph), meter);
    // If the graph changed in the meantime, the result is discarded, and the next writer tries again.
    if (this.#graph !== graph || graph.size !== flatGraph.size) return;
    this.#graph = flatGraph;
    this.#index = flatIndex;
  }
}

/** History of a store, as the basis for the history of a fork. */
export interface HistoryBasis extends GraphBasis {
  readonly index: HistoryIndex;
}

function* range(start: number, end: number): IterableIterator<number> {
  for (let at = start; at < end; at++) yield at;
}

import type { Meter } from '../../schedule/meter.js';
import { inSlices } from '../../schedule/steps.js';
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

/** Graphs that lie on each other: with more of them, what is known is put in one. */
const MOST_GRAPHS = 8;

export interface CommitSummary {
  readonly oid: Oid;
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  /** Seconds since 1970. */
  readonly committedAt: number;
  /** Seconds since 1970. */
  readonly authoredAt: number;
}

export interface LogOptions {
  readonly tips: Iterable<Oid>;
  /** Only commits that touch this file or folder, by Git's default history simplification. */
  readonly path?: ByteString;
}

/**
 * What the commits of a repository say together: ancestry, logs, what a fetch has to send, which commit last modified which path.
 *
 * Everything is derived from published objects and never changes, so it is kept: commits in a graph of typed arrays,
 * and what each introduced in an index that fills as it is asked. Ids may be those of tags that lead to commits.
 * Methods throw `MissingObject` for an id that is not here or is no commit.
 */
export class History {
  #graph: CommitGraph;
  #index: HistoryIndex;

  /** `basis`: what is known of the store that `objects` is a fork of. */
  constructor(objects: LinkReader, basis?: HistoryBasis) {
    this.#graph = new CommitGraph(objects, basis);
    this.#index = new HistoryIndex(this.#graph, basis?.index);
  }

  /** For a fork of the store that nothing is added to: what is known now, and what is found out there. */
  kept(objects: LinkReader): History {
    const graph = this.#graph.through(objects);
    return new History(objects, { graph, index: this.#index.through(graph), size: graph.size });
  }

  /** For a fork of the store: until it has commits of its own, what is found out there is kept here, for all forks. */
  fork(objects: LinkReader): History {
    return new History(objects, { graph: this.#graph, index: this.#index });
  }

  /** The commits by position, for walks that are not methods of this class. */
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

  /** Whether `descendant` is `ancestor` or descends from it. */
  isAncestor(ancestor: Oid, descendant: Oid): boolean {
    return this.reaches([descendant], ancestor);
  }

  /** Whether any of the tips is `commit` or descends from it. */
  reaches(tips: Iterable<Oid>, commit: Oid): boolean {
    return unreached(this.#graph, this.#graph.locateAll(tips), [this.#graph.locate(commit)]).length === 0;
  }

  /** Those of `commits` that none of the tips is or descends from. */
  async unreached(tips: Iterable<Oid>, commits: Iterable<Oid>, meter: Meter): Promise<Oid[]> {
    const graph = this.#graph;
    const positions = await this.#loadAll(tips, meter);
    const sought = Array.from(commits, (oid) => ({ oid, position: this.#loadedPositionOf(oid) }));
    const loaded = sought.map(({ position }) => position).filter((position) => position >= 0);
    const left = new Set(unreached(graph, positions, loaded));
    // What is not loaded with the tips is not behind them.
    return sought.filter(({ position }) => position < 0 || left.has(position)).map(({ oid }) => oid);
  }

  /** Whether each of the tips is one of `commits` or descends from one; ids that are no commits here are passed over. */
  async allReach(tips: Iterable<Oid>, commits: Iterable<Oid>, meter: Meter): Promise<boolean> {
    const positions = await this.#loadAll(tips, meter);
    const targets = Array.from(commits, (oid) => this.#loadedPositionOf(oid)).filter((position) => position >= 0);
    return allReach(this.#graph, positions, targets);
  }

  async #loadAll(tips: Iterable<Oid>, meter: Meter): Promise<GraphPosition[]> {
    const commits = Array.from(tips, (tip) => this.#graph.commitNumber(tip));
    await inSlices(this.#graph.load(commits), meter);
    return commits.map((commit) => this.#graph.positionOf(commit));
  }

  /** The position of a commit that is loaded, else -1. */
  #loadedPositionOf(oid: Oid): GraphPosition {
    const number = this.#graph.objects.find(oid);
    return number < 0 ? -1 : this.#graph.positionOf(number);
  }

  /** The best common ancestors, as `git merge-base --all` prints them; none of unrelated histories. */
  mergeBases(a: Oid, b: Oid): Oid[] {
    const [left, right] = [this.#graph.locate(a), this.#graph.locate(b)];
    return mergeBases(this.#graph, left, right).map((position) => this.#graph.oidOf(position));
  }

  /** How many commits only `a` leads to, and how many only `b` does. */
  aheadBehind(a: Oid, b: Oid): { ahead: number; behind: number } {
    const [left, right] = [this.#graph.locate(a), this.#graph.locate(b)];
    return aheadBehind(this.#graph, left, right);
  }

  /** Commit ids in the order and selection of `git log`. Lazy: it walks no further than it is read. */
  *log(options: LogOptions): IterableIterator<Oid> {
    for (const oid of this.logEach(options)) if (oid !== undefined) yield oid;
  }

  /** As `log`, with `undefined` for each commit that was looked at and is not shown. */
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

  /** The objects a fetch has to send, with what helps to make a small pack of them. */
  plan(request: EnumerateRequest, meter: Meter): Promise<SendPlan> {
    return inSlices(planSend(this.#graph, this.#index, request), meter);
  }

  /** The shallow boundary a fetch with a depth asks for. Throws `NothingSelected`. */
  shallowBoundary(request: DepthRequest, meter: Meter): Promise<ShallowBoundary> {
    return inSlices(findShallowBoundary(this.#graph, request), meter);
  }

  /**
   * For each file, link and gitlink of the commit's tree the commit that `git log -1 -- <path>` shows, in the order
   * of Git's index. `under` keeps to one file or folder.
   */
  async lastModified(commit: Oid, meter: Meter, under?: ByteString): Promise<Map<ByteString, Oid>> {
    await this.extend([commit], meter);
    return inSlices(lastModified(this.#graph, this.#index, this.#graph.locate(commit), under), meter);
  }

  /**
   * Takes in what a push brought, in slices, so that the synchronous methods find it there. When the index is in use
   * it is extended too. Costs what is new.
   */
  async extend(tips: Iterable<Oid>, meter: Meter): Promise<void> {
    if (this.#graph.depth > MOST_GRAPHS) await this.#flatten(meter);
    const graph = this.#graph;
    const first = graph.size;
    const commits = Array.from(tips, (tip) => graph.commitNumber(tip));
    await inSlices(graph.load(commits), meter);
    if (this.#index.size > 0 && graph.size > first) await inSlices(this.#index.cover(range(first, graph.size)), meter);
  }

  /** After many forks of forks, each with commits of its own. */
  async #flatten(meter: Meter): Promise<void> {
    const [graph, index] = [this.#graph, this.#index];
    const flatGraph = await inSlices(graph.flattened(), meter);
    const flatIndex = await inSlices(index.flattened(flatGraph), meter);
    // Others may have gone on meanwhile; then the next writer tries.
    if (this.#graph !== graph || graph.size !== flatGraph.size) return;
    this.#graph = flatGraph;
    this.#index = flatIndex;
  }
}

/** What is known of the commits of a store, for a fork of it. */
export interface HistoryBasis extends GraphBasis {
  readonly index: HistoryIndex;
}

function* range(start: number, end: number): IterableIterator<number> {
  for (let at = start; at < end; at++) yield at;
}

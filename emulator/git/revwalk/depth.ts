import { PIECE, PIECE_COST, runSync, type Steps } from '../../schedule/steps.js';
import { COMMIT, type Oid } from '../object/object.js';
import { peelTags } from '../object/tag.js';
import type { CommitGraph } from './commit-graph.js';
import { difference, unreached } from './reachability.js';

/** Depth that stands for the complete history. `git fetch --unshallow` sends it as the value of `deepen`. */
export const INFINITE_DEPTH = 0x7fffffff;

export interface DepthRequest {
  readonly wants: Iterable<Oid>;
  /** Commits whose parents the client does not have, because its clone is shallow. Unknown ids are ignored. */
  readonly clientShallow?: Iterable<Oid>;
  /**
   * Value of `deepen`: number of commits on the path from a wanted commit to the shallow boundary. Both ends are
   * counted.
   */
  readonly depth?: number;
  /**
   * True if the client sent `deepen-relative`. The depth then counts from the client's present shallow boundary instead
   * of from the wanted commits.
   */
  readonly relative?: boolean;
  /**
   * Targets of all refs of the repository; `wants` by default. With `relative`, a shallow commit of the client is
   * deepened only if it is reachable from these targets.
   */
  readonly tips?: Iterable<Oid>;
  /** Value of `deepen-since`, in seconds since 1970. Commits with an older committer date are not sent. */
  readonly since?: number;
  /** Commits given by `deepen-not`. These commits and their ancestors are not sent. */
  readonly not?: Iterable<Oid>;
}

export interface ShallowBoundary {
  /** Commits that become shallow with this fetch. The client must treat them as parentless from now on. */
  readonly shallow: Oid[];
  /**
   * Commits that stop being shallow. The client's history ended at these commits before, and the fetch sends their
   * parents.
   */
  readonly unshallow: Oid[];
  /**
   * All commits whose parents the client will not have after the fetch. The search for objects to send stops at these
   * commits.
   */
  readonly boundary: ReadonlySet<Oid>;
}

/** Error thrown when `deepen-since` and `deepen-not` exclude all wanted commits. The message is Git's. */
export class NothingSelected extends Error {
  override readonly name = 'NothingSelected';
  constructor() {
    super('no commits selected for shallow requests');
  }
}

/**
 * Commits that a shallow fetch selects, as object numbers. The parents of commits in `inside` are selected too. The
 * commits in `boundary` are sent without parents.
 */
interface Selection {
  readonly inside: ReadonlySet<number>;
  readonly boundary: ReadonlySet<number>;
}

/**
 * Computes the shallow boundary of a fetch, as `git upload-pack` does. The boundary consists of the commits that are
 * sent without parents. Throws `NothingSelected` if the request excludes all wanted commits.
 */
export function* findShallowBoundary(graph: CommitGraph, request: DepthRequest): Steps<ShallowBoundary> {
  const client = new Set<number>();
  for (const oid of request.clientShallow ?? []) {
    const number = graph.objects.find(oid);
    if (number >= 0 && graph.objects.typeOf(number) === COMMIT) client.add(number);
  }
  const selection = yield* select(graph, request, client);
  const boundary = new Set<Oid>();
  const unshallow: Oid[] = [];
  for (const number of client) {
    const oid = graph.objects.oidOf(number);
    if (selection.inside.has(number)) unshallow.push(oid);
    else boundary.add(oid);
  }
  const selected = Array.from(selection.boundary, (number) => graph.objects.oidOf(number));
  const shallow = selected.filter((oid) => !boundary.has(oid));
  for (const oid of shallow) boundary.add(oid);
  return { shallow, unshallow, boundary };
}

function* select(graph: CommitGraph, request: DepthRequest, client: ReadonlySet<number>): Steps<Selection> {
  const { depth = 0, relative = false, since } = request;
  const not = [...(request.not ?? [])];
  if (depth >= INFINITE_DEPTH) return { inside: client, boundary: new Set() };
  if (depth > 0 && relative) {
    const reachable = yield* reachableOf(graph, client, request.tips ?? request.wants);
    return yield* selectByDepth(graph, reachable, depth + 1);
  }
  if (depth > 0) return yield* selectByDepth(graph, commitsOf(graph, request.wants), depth);
  if (since === undefined && not.length === 0) return { inside: new Set(), boundary: new Set() };
  return yield* selectByLimits(graph, commitsOf(graph, request.wants), since, not);
}

/**
 * Returns the object numbers of the commits that the ids refer to, directly or through annotated tags. Ids that lead to
 * a tree or blob are ignored.
 */
function commitsOf(graph: CommitGraph, oids: Iterable<Oid>): number[] {
  const commits = Array.from(oids, (oid) => graph.objects.find(runSync(peelTags(graph.objects, oid))));
  return commits.filter((number) => graph.objects.typeOf(number) === COMMIT);
}

function* reachableOf(graph: CommitGraph, client: ReadonlySet<number>, tips: Iterable<Oid>): Steps<number[]> {
  if (client.size === 0) return [];
  const commits = commitsOf(graph, tips);
  yield* graph.load(commits);
  const loaded = [...client].filter((number) => graph.positionOf(number) >= 0);
  const positions = (numbers: readonly number[]) => numbers.map((number) => graph.positionOf(number));
  const left = new Set(unreached(graph, positions(commits), positions(loaded)));
  return loaded.filter((number) => !left.has(graph.positionOf(number)));
}

/**
 * Selects the commits at a distance of less than `depth` from the tips. The walk is breadth-first and thus finds the
 * shortest path to each commit.
 *
 * As in Git, a root commit at the maximum distance is put on the boundary, although it has no parents.
 */
function* selectByDepth(graph: CommitGraph, tips: readonly number[], depth: number): Steps<Selection> {
  const inside = new Set<number>();
  let level = new Set(tips);
  let work = 0;
  for (let distance = 1; distance < depth && level.size > 0; distance++) {
    for (const commit of level) inside.add(commit);
    const next = new Set<number>();
    for (const commit of level) {
      if (++work % PIECE === 0) yield PIECE_COST;
      for (const parent of graph.linksOf(commit).parents) {
        if (!inside.has(parent)) next.add(parent);
      }
    }
    level = next;
  }
  return { inside, boundary: level };
}

/**
 * Selects the commits that `git rev-list --max-age=<since> <tips> --not <not>` lists. A listed commit is on the
 * boundary if one of its parents is not listed. Throws `NothingSelected` if no commit is listed.
 */
function* selectByLimits(
  graph: CommitGraph,
  tips: readonly number[],
  since = Number.NEGATIVE_INFINITY,
  not: readonly Oid[] = [],
): Steps<Selection> {
  const listed = yield* not.length > 0 ? listLimited(graph, tips, since, not) : listRecent(graph, tips, since);
  if (listed.size === 0) throw new NothingSelected();
  const inside = new Set<number>();
  const boundary = new Set<number>();
  let work = 0;
  for (const commit of listed) {
    if (++work % PIECE === 0) yield PIECE_COST;
    const isInside = graph.linksOf(commit).parents.every((parent) => listed.has(parent));
    (isInside ? inside : boundary).add(commit);
  }
  return { inside, boundary };
}

/**
 * Returns the object numbers of the commits that are reachable from the tips and have a committer date of at least
 * `since`. The walk stops at an older commit, even if this commit has newer ancestors, as in Git.
 */
function* listRecent(graph: CommitGraph, tips: readonly number[], since: number): Steps<Set<number>> {
  const listed = new Set<number>();
  const stack = [...tips];
  let work = 0;
  for (let commit = stack.pop(); commit !== undefined; commit = stack.pop()) {
    if (++work % PIECE === 0) yield PIECE_COST;
    if (listed.has(commit)) continue;
    const { committedAt, parents } = graph.linksOf(commit);
    if (committedAt < since) continue;
    listed.add(commit);
    stack.push(...parents);
  }
  return listed;
}

/**
 * Returns the object numbers of the selected commits for a request with `deepen-not`. With this option, Git excludes
 * all ancestors of a commit that is older than `since`, even ancestors with a newer date.
 */
function* listLimited(
  graph: CommitGraph,
  tips: readonly number[],
  since: number,
  not: readonly Oid[],
): Steps<Set<number>> {
  const limits = not.map((oid) => graph.commitNumber(oid));
  yield* graph.load([...tips, ...limits]);
  const wants = tips.map((number) => graph.positionOf(number));
  const haves = limits.map((number) => graph.positionOf(number));
  const first = yield* difference(graph, { wants, haves });
  const old = first.filter((position) => graph.committedAt(position) < since);
  const positions = old.length === 0 ? first : yield* difference(graph, { wants, haves: [...haves, ...old] });
  return new Set(Array.from(positions, (position) => graph.objectOf(position)));
}

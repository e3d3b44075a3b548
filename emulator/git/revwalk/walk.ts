import type { ByteString } from '../object/bytes.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { DateQueue } from './date-queue.js';
import type { HistoryIndex } from './history-index.js';
import { NumberSet } from './number-set.js';
import { PathComparison } from './path-comparison.js';

/** Decision about a visited commit: whether the log shows it, and which of its parents are visited. */
interface Visit {
  readonly isShown: boolean;
  /** Positions of the parents at which the walk continues. In the log of a path, some parents may be omitted. */
  readonly parents: Iterable<GraphPosition>;
}

/**
 * Yields the positions of commits in the order of `git log`: of all commits that were reached but not visited, the
 * commit with the newest committer date is next. Yields `undefined` for each visited commit that is not shown, so that
 * the caller can yield to the event loop.
 *
 * `visit` is called once for each commit. It decides whether the commit is shown and which parents follow.
 */
export function* walkEach(
  graph: CommitGraph,
  tips: readonly GraphPosition[],
  visit: (position: GraphPosition) => Visit,
): Generator<GraphPosition | undefined, void, void> {
  const queue = new DateQueue(graph);
  const seen = new NumberSet(graph.size);
  const meet = (position: GraphPosition) => {
    if (seen.add(position)) queue.put(position);
  };
  for (const tip of tips) meet(tip);
  while (queue.size > 0) {
    const position = queue.take();
    const { isShown, parents } = visit(position);
    for (const parent of parents) meet(parent);
    yield isShown ? position : undefined;
  }
}

/**
 * Returns a `visit` function for the log of one path (a file or folder). It applies Git's default history
 * simplification. If a parent has an equal version of the path, the commit is not shown, and only the first such parent
 * is followed.
 */
export function pathVisit(
  graph: CommitGraph,
  index: HistoryIndex,
  path: ByteString,
): (position: GraphPosition) => Visit {
  const comparison = new PathComparison(graph, index, path);
  return (position) => {
    const parents = graph.parentsOf(position).slice();
    if (parents.length === 0) return { isShown: comparison.exists(position), parents };
    const same = parents.find((parent, nth) => comparison.isSame(position, parent, nth));
    return same === undefined ? { isShown: true, parents } : { isShown: false, parents: [same] };
  };
}

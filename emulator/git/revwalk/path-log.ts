import type { ByteString } from '../object/bytes.js';
import type { CommitGraph, GraphPosition } from './commit-graph.js';
import type { HistoryIndex } from './history-index.js';
import { PathComparison } from './path-comparison.js';
import type { Visit } from './walk.js';

/**
 * Git's default history simplification for one path, a file or a folder, taken literally:
 * a commit equal in it to one of its parents is not shown, and only the first such parent is followed.
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

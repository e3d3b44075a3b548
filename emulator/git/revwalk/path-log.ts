import type { ByteString } from '../object/bytes.js';
import type { CommitGraph, Place } from './commit-graph.js';
import type { HistoryIndex } from './introduced.js';
import { PathComparison } from './path-comparison.js';
import type { Visit } from './walk.js';

/**
 * Git's default history simplification for one path, a file or a folder, taken literally:
 * a commit equal in it to one of its parents is not shown, and only the first such parent is followed.
 */
export function pathVisit(graph: CommitGraph, index: HistoryIndex, path: ByteString): (place: Place) => Visit {
  const comparison = new PathComparison(graph, index, path);
  return (place) => {
    const parents = graph.parentsOf(place).slice();
    if (parents.length === 0) return { isShown: comparison.exists(place), parents };
    const same = parents.find((parent, nth) => comparison.isSame(place, parent, nth));
    return same === undefined ? { isShown: true, parents } : { isShown: false, parents: [same] };
  };
}

import type { ByteString } from '../bytes.js';
import type { CommitGraph, Place } from './commit-graph.js';
import type { HistoryIndex } from './introduced.js';
import { PathComparison } from './path-comparison.js';
import type { Visit } from './walk.js';

export interface PathVisitOptions {
  readonly firstParent: boolean;
  /** Whether a parent counts: it is listed itself, or was named as a limit. */
  readonly isRelevant: (place: Place) => boolean;
}

/**
 * Git's default history simplification for one path, a file or a folder, taken literally:
 * a commit equal in it to one of its parents is not shown, and only the first such parent is followed.
 */
export function pathVisit(
  graph: CommitGraph,
  index: HistoryIndex,
  path: ByteString,
  { firstParent, isRelevant }: PathVisitOptions,
): (place: Place) => Visit {
  const comparison = new PathComparison(graph, index, path);
  return (place) => {
    const parents = graph.parentsOf(place).slice();
    if (parents.length === 0) return { isShown: comparison.exists(place), parents };
    let hasRelevant = false;
    let hasRelevantChange = false;
    let hasOtherChange = false;
    for (const [nth, parent] of parents.entries()) {
      if (firstParent && nth > 0) break;
      const counts = isRelevant(parent);
      hasRelevant ||= counts;
      if (comparison.isSame(place, parent, nth)) {
        if (counts) return { isShown: false, parents: [parent] };
      } else if (counts) hasRelevantChange = true;
      else hasOtherChange = true;
    }
    return { isShown: hasRelevant ? hasRelevantChange : hasOtherChange, parents };
  };
}

import type { CommitGraph, GraphPosition } from './commit-graph.js';
import { DateQueue } from './date-queue.js';
import { NumberSet } from './number-set.js';

/** What a walk does at a commit. */
export interface Visit {
  readonly isShown: boolean;
  /** The parents, or those of them that matter. */
  readonly parents: Iterable<GraphPosition>;
}

export interface Walk {
  readonly graph: CommitGraph;
  readonly tips: readonly GraphPosition[];
  readonly visit: (position: GraphPosition) => Visit;
}

/**
 * The commits as `git log` lists them: the newest by committer date among those whose children were seen; `undefined` for
 * each commit that is not shown, so that a caller can pass its meter in between.
 */
export function* walkEach({ graph, tips, visit }: Walk): Generator<GraphPosition | undefined, void, void> {
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

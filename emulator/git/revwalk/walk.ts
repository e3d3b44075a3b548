import type { CommitGraph, Place } from './commit-graph.js';
import { DateQueue } from './date-queue.js';
import { NumberSet } from './number-set.js';

/** What a walk does at a commit. */
export interface Visit {
  readonly isShown: boolean;
  /** The parents, or those of them that matter. */
  readonly parents: Iterable<Place>;
}

export interface Walk {
  readonly graph: CommitGraph;
  readonly tips: readonly Place[];
  readonly visit: (place: Place) => Visit;
}

/** The commits as `git log` lists them: the newest by committer date among those whose children were seen. */
export function* walkByDate(walk: Walk): Generator<Place, void, void> {
  for (const place of walkEach(walk)) if (place !== undefined) yield place;
}

/** As `walkByDate`, with `undefined` for each commit that is not shown, so that nobody waits for the next that is. */
export function* walkEach({ graph, tips, visit }: Walk): Generator<Place | undefined, void, void> {
  const queue = new DateQueue(graph);
  const seen = new NumberSet(graph.size);
  const meet = (place: Place) => {
    if (seen.add(place)) queue.put(place);
  };
  for (const tip of tips) meet(tip);
  while (queue.size > 0) {
    const place = queue.take();
    const { isShown, parents } = visit(place);
    for (const parent of parents) meet(parent);
    yield isShown ? place : undefined;
  }
}

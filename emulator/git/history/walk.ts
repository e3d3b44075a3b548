import type { CommitGraph, Place } from './commit-graph.js';
import { DateQueue } from './date-queue.js';
import { NumberSet } from './number-set.js';

/** What a walk does at a commit. */
export interface Visit {
  readonly isShown: boolean;
  /** The parents, or those of them that matter. */
  readonly parents: ArrayLike<Place> & Iterable<Place>;
}

export interface Walk {
  readonly graph: CommitGraph;
  readonly tips: readonly Place[];
  /** Commits the walk keeps to; all when absent. */
  readonly scope?: NumberSet | undefined;
  /** Keeps to the first parents; the others still count for the topological order, as in Git. */
  readonly firstParent?: boolean;
  readonly visit: (place: Place) => Visit;
}

/** The commits as `git log` lists them: the newest by committer date among those whose children were seen. */
export function* walkByDate(walk: Walk): Generator<Place, void, void> {
  for (const { place, isShown } of steps(walk)) if (isShown) yield place;
}

/**
 * The commits as `git log --topo-order` lists them: no parent before all its children, and one line
 * of history at a time.
 */
export function* walkByTopology(walk: Walk): Generator<Place, void, void> {
  const visits = new Map<Place, Visit>();
  for (const { place, ...visit } of steps(walk)) visits.set(place, visit);
  // As in Git one more than the children not listed yet, so that 1 means ready and 0 unknown.
  const waiting = new Map<Place, number>();
  for (const place of visits.keys()) waiting.set(place, 1);
  for (const { parents } of visits.values()) {
    for (const parent of parents) {
      const count = waiting.get(parent);
      if (count !== undefined) waiting.set(parent, count + 1);
    }
  }
  const stack = [...visits.keys()].filter((place) => waiting.get(place) === 1).reverse();
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const { isShown, parents } = visits.get(place)!;
    if (isShown) yield place;
    for (const parent of parents) {
      const count = waiting.get(parent);
      if (count === undefined) continue;
      waiting.set(parent, count - 1);
      if (count === 2) stack.push(parent);
    }
  }
}

interface Step extends Visit {
  readonly place: Place;
}

function* steps({ graph, tips, scope, firstParent = false, visit }: Walk): Generator<Step, void, void> {
  const queue = new DateQueue(graph);
  const seen = new NumberSet(graph.size);
  const meet = (place: Place) => {
    if ((scope === undefined || scope.has(place)) && seen.add(place)) queue.put(place);
  };
  for (const tip of tips) meet(tip);
  while (queue.size > 0) {
    const place = queue.take();
    const { isShown, parents } = visit(place);
    const followed = firstParent ? Math.min(1, parents.length) : parents.length;
    for (let nth = 0; nth < followed; nth++) meet(parents[nth]!);
    yield { place, isShown, parents };
  }
}

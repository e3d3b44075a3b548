import type { ProblemCode } from '../http/problem.js';
import { isFor, positionOf } from './compiled-fault.js';
import type { Action } from './fault.js';
import { isStateCode } from './kinds/error.js';
import { actionsOf, codeOf, endsStage } from './kinds/index.js';
import { MemoizedText } from './memoized-text.js';
import type { FaultedOperation } from './operation-shape.js';
import type { Position } from './stage.js';
import type { FaultEntry } from './tally.js';

/** Actions of one fault at one point of the pipeline. */
export interface PlannedFault {
  readonly entry: FaultEntry;
  /** Index of the fault in `entries` of its plan. */
  readonly index: number;
  readonly actions: ReadonlySet<Action>;
  /** True if one of the actions ends the stage, for example by replacing the response. */
  readonly ends: boolean;
  /**
   * Error code of a repository state that the fault simulates. The fault fires only for requests that this state would
   * refuse.
   */
  readonly stateCode: ProblemCode | undefined;
  /** Sentence in the journal for a request for which the fault did not fire. The same reason gives the same string. */
  readonly refusal: MemoizedText<string>;
}

/**
 * Faults that can apply to requests of one operation. Computed once per operation, because it is needed for each
 * request.
 */
export interface FaultPlan {
  readonly entries: readonly FaultEntry[];
  /** Number of faults that have an action for the operation. */
  readonly meeting: number;
  /** Faults by the point in the pipeline at which they act, in the order in which they are tried. */
  readonly at: ReadonlyMap<Position, readonly PlannedFault[]>;
  /** True if a fault has a condition on the JSON body. */
  readonly needsBody: boolean;
}

/** Returns the plan for an operation, with those of the given faults that can apply to it. */
export function planOf(entries: readonly FaultEntry[], operation: FaultedOperation): FaultPlan {
  const mine = [...new Set(entries)]
    .filter(({ compiled }) => isFor(compiled, operation))
    .sort((a, b) => b.compiled.priority - a.compiled.priority || a.order - b.order);
  const at = new Map<Position, PlannedFault[]>();
  let meeting = 0;
  for (const [index, entry] of mine.entries()) {
    const places = placesOf(entry, operation);
    if (places.size > 0) meeting += 1;
    const refusal = new MemoizedText((why: string) => `${entry.id} did not fire: ${why}`);
    for (const [position, actions] of places) {
      const planned = at.get(position) ?? [];
      planned.push({ entry, index, actions, ...traitsOf(actions), refusal });
      at.set(position, planned);
    }
  }
  const needsBody = mine.some(({ compiled }) => compiled.criteria.some(({ member }) => member === 'http.body'));
  return { entries: mine, meeting, at, needsBody };
}

function placesOf({ compiled }: FaultEntry, operation: FaultedOperation): Map<Position, Set<Action>> {
  const places = new Map<Position, Set<Action>>();
  for (const action of actionsOf(compiled)) {
    const position = positionOf(action, compiled, operation);
    if (position === undefined) continue;
    places.set(position, (places.get(position) ?? new Set()).add(action));
  }
  return places;
}

function traitsOf(actions: ReadonlySet<Action>): Pick<PlannedFault, 'ends' | 'stateCode'> {
  return {
    ends: [...actions].some(endsStage),
    stateCode: [...actions].flatMap((action) => codeOf(action) ?? []).find(isStateCode),
  };
}

import type { ProblemCode } from '../http/problem.js';
import { isFor, positionOf } from './compiled-fault.js';
import type { Action } from './fault.js';
import { isStateCode } from './kinds/error.js';
import { actionsOf, codeOf, endsStage } from './kinds/index.js';
import { LastText } from './last-text.js';
import type { FaultedOperation } from './operation-shape.js';
import type { Position } from './stage.js';
import type { FaultEntry } from './tally.js';

/** Actions of one fault at one position of the pipeline. */
export interface PlannedFault {
  readonly entry: FaultEntry;
  /** Index of the fault in `entries` of the plan. */
  readonly index: number;
  readonly actions: ReadonlySet<Action>;
  /** True if one of the actions ends the stage. */
  readonly ends: boolean;
  /** Code of a repository state. The fault fires only for requests that this state would refuse. */
  readonly stateCode: ProblemCode | undefined;
  /** Journal sentence for a request that the fault almost applied to, by the reason. */
  readonly refusal: LastText<string>;
}

/** Faults that can apply to the requests of one operation. Computed once for all of them. */
export interface FaultPlan {
  readonly entries: readonly FaultEntry[];
  /** Number of faults that have an action on the operation. */
  readonly meeting: number;
  /** Faults by the position at which they act, in the order in which they are tried. */
  readonly at: ReadonlyMap<Position, readonly PlannedFault[]>;
  /** True if a fault has a condition on the JSON body. */
  readonly needsBody: boolean;
}

/** Returns the plan for an operation, from those of `entries` that apply to it. */
export function planOf(entries: readonly FaultEntry[], operation: FaultedOperation): FaultPlan {
  const mine = [...new Set(entries)]
    .filter(({ compiled }) => isFor(compiled, operation))
    .sort((a, b) => b.compiled.priority - a.compiled.priority || a.order - b.order);
  const at = new Map<Position, PlannedFault[]>();
  let meeting = 0;
  for (const [index, entry] of mine.entries()) {
    const places = placesOf(entry, operation);
    if (places.size > 0) meeting += 1;
    const refusal = new LastText((why: string) => `${entry.id} did not fire: ${why}`);
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

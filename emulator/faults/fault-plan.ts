import type { ProblemCode } from '../http/problem.js';
import { isFor, positionOf } from './compiled-fault.js';
import type { Action } from './fault.js';
import { isStateCode } from './kinds/error.js';
import { actionsOf, codeOf, endsStage } from './kinds/index.js';
import { LastText } from './last-text.js';
import type { FaultedOperation } from './operation-shape.js';
import type { Position } from './stage.js';
import type { FaultEntry } from './tally.js';

/** What one fault may do at one place of a request's way. */
export interface PlannedFault {
  readonly entry: FaultEntry;
  /** Its place in `entries` of the plan. */
  readonly index: number;
  readonly actions: ReadonlySet<Action>;
  /** Whether one of them ends the stage. */
  readonly ends: boolean;
  /** The code of a state that has to stand in the way of the request. */
  readonly stateCode: ProblemCode | undefined;
  /** What is told of a request that it nearly met, by the reason. */
  readonly refusal: LastText<string>;
}

/** The faults that requests of one operation can meet, found once for all of them. */
export interface FaultPlan {
  readonly entries: readonly FaultEntry[];
  /** How many of them do something on the operation. */
  readonly meeting: number;
  /** By the place where they do something, in the order in which they are asked. */
  readonly at: ReadonlyMap<Position, readonly PlannedFault[]>;
  /** Whether one of them asks what the JSON body says. */
  readonly needsBody: boolean;
}

/** Those of `entries` that are for the operation. */
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

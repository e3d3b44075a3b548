import type { ProblemCode } from '../http/problem.js';
import { isFor, positionOf } from './compiled-fault.js';
import type { Action } from './fault.js';
import { isStateCode } from './kinds/error.js';
import { actionsOf, codeOf, endsStage } from './kinds/index.js';
import { readsJson } from './known-facts.js';
import { MemoizedText } from './memoized-text.js';
import type { FaultedOperation } from './operation-shape.js';
import type { Position } from './stage.js';
import type { FaultEntry } from './tally.js';

/**
 * One fault, with the actions that it carries out at one position of a request (a stage, or the check of the quotas).
 */
export interface PlannedFault {
  readonly entry: FaultEntry;
  /** Index of the fault in `FaultPlan.entries`. */
  readonly index: number;
  readonly actions: ReadonlySet<Action>;
  /**
   * True if one of the actions ends the stage, for example by replacing the response. Only one fault can end a stage.
   */
  readonly ends: boolean;
  /**
   * Error code of the repository state that the fault simulates, such as `sync_in_progress`; otherwise undefined. Such
   * a fault fires only for requests that the real state would refuse.
   */
  readonly stateCode: ProblemCode | undefined;
  /**
   * Creates the sentence for the journal that says why the fault did not fire. Equal sentences share one string, to
   * save memory.
   */
  readonly refusal: MemoizedText<string>;
}

/**
 * Faults that can apply to requests to one operation, grouped by the position at which they act. Cached per operation,
 * because every request needs its plan.
 */
export interface FaultPlan {
  readonly entries: readonly FaultEntry[];
  /** Number of faults in `entries` that can act on requests to the operation. */
  readonly applicable: number;
  /**
   * Faults by the position at which they act: a stage of the request, or the check of the quotas. At each position, the
   * fault with the highest priority comes first.
   */
  readonly at: ReadonlyMap<Position, readonly PlannedFault[]>;
  /**
   * True if a fault has a condition on the body of an API request. The body must then be read before the fault can be
   * decided.
   */
  readonly needsBody: boolean;
  /** True if a fault has a condition on the commits of a push. They must then be read before its refs move. */
  readonly needsCommits: boolean;
  /** True if a fault has a condition on the contents of files in new commits. */
  readonly needsContents: boolean;
}

/** Conditions that compare new commits of a request. */
export const OF_COMMITS = ['git.path', 'git.message', 'git.content'];

/** Selects the given faults that can apply to requests to an operation, and returns them as a plan. */
export function planOf(entries: readonly FaultEntry[], operation: FaultedOperation): FaultPlan {
  const mine = [...new Set(entries)]
    .filter(({ compiled }) => compiled.isEnabled && isFor(compiled, operation))
    .sort((a, b) => b.compiled.priority - a.compiled.priority || a.order - b.order);
  const at = new Map<Position, PlannedFault[]>();
  let applicable = 0;
  for (const [index, entry] of mine.entries()) {
    const places = placesOf(entry, operation);
    if (places.size > 0) applicable += 1;
    const refusal = new MemoizedText((why: string) => `${entry.id} did not fire: ${why}`);
    for (const [position, actions] of places) {
      const planned = at.get(position) ?? [];
      planned.push({ entry, index, actions, ...traitsOf(actions), refusal });
      at.set(position, planned);
    }
  }
  const has = (members: readonly string[]): boolean =>
    mine.some(({ compiled }) => compiled.criteria.some(({ member }) => members.includes(member)));
  const isReadable = readsJson(operation) || operation.names !== undefined;
  const needsBody = isReadable && has(['http.body', 'git.ref', ...OF_COMMITS]);
  const [needsCommits, needsContents] = [has(OF_COMMITS), has(['git.content'])];
  return { entries: mine, applicable, at, needsBody, needsCommits, needsContents };
}

/**
 * Groups the actions of a fault by the position at which they are carried out. Omits actions whose position requests to
 * the operation never reach.
 */
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

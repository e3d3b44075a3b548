import type { Oid } from '../object/object.js';
import type { History } from '../revwalk/history.js';

/** What bringing `source` into `target` takes. */
export type MergePlan = 'no_op' | 'fast_forward' | 'merge_commit';

/** How a merge may be done: `ff_prefer` and `ff_only` move the branch where that is enough, `merge` never does. */
export type MergeStrategy = 'merge' | 'ff_only' | 'ff_prefer';

/** `no_op`: the target contains the source already. `fast_forward`: the source contains the target. */
export function planMerge(history: History, target: Oid, source: Oid): MergePlan {
  if (history.isAncestor(source, target)) return 'no_op';
  return history.isAncestor(target, source) ? 'fast_forward' : 'merge_commit';
}

/** What a strategy makes of a plan; undefined where it refuses (`ff_only` on histories that went apart). */
export function applyStrategy(plan: MergePlan, strategy: MergeStrategy): MergePlan | undefined {
  if (plan === 'fast_forward' && strategy === 'merge') return 'merge_commit';
  if (plan === 'merge_commit' && strategy === 'ff_only') return undefined;
  return plan;
}

import type { Oid } from '../object/object.js';
import type { History } from '../revwalk/history.js';

/** Kind of update that brings the commits of branch `source` into branch `target`. */
export type MergePlan = 'no_op' | 'fast_forward' | 'merge_commit';

/**
 * Strategy that a client requests for a merge. `ff_prefer` and `ff_only` fast-forward the branch if possible; `merge`
 * always creates a merge commit.
 */
export type MergeStrategy = 'merge' | 'ff_only' | 'ff_prefer';

/**
 * Returns `no_op` if the target already contains the source, `fast_forward` if the source contains the target, and
 * `merge_commit` otherwise.
 */
export function planMerge(history: History, target: Oid, source: Oid): MergePlan {
  if (history.isAncestor(source, target)) return 'no_op';
  return history.isAncestor(target, source) ? 'fast_forward' : 'merge_commit';
}

/**
 * Returns the update that a strategy makes of the planned one. Returns undefined if the strategy does not allow the
 * update (`ff_only` if each branch has commits that the other does not have).
 */
export function applyStrategy(plan: MergePlan, strategy: MergeStrategy): MergePlan | undefined {
  if (plan === 'fast_forward' && strategy === 'merge') return 'merge_commit';
  if (plan === 'merge_commit' && strategy === 'ff_only') return undefined;
  return plan;
}

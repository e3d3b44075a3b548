import type { Oid } from '../object/object.js';
import type { History } from '../revwalk/history.js';

/** Update that brings the commits of branch `source` into branch `target`. */
export type MergePlan = 'no_op' | 'fast_forward' | 'merge_commit';

/**
 * Strategy that a client requests for a merge. `ff_only` and `ff_prefer` fast-forward the target branch if possible.
 * Otherwise, `ff_only` fails and `ff_prefer` creates a merge commit. `merge` never fast-forwards: it creates a merge
 * commit.
 */
export type MergeStrategy = 'merge' | 'ff_only' | 'ff_prefer';

/**
 * Returns the update that is needed to merge `source` into `target`. The client's strategy is not considered.
 *
 * - `no_op`: the target already contains the source.
 * - `fast_forward`: the source contains the target.
 * - `merge_commit`: each has commits that the other lacks.
 */
export function planMerge(history: History, target: Oid, source: Oid): MergePlan {
  if (history.isAncestor(source, target)) return 'no_op';
  return history.isAncestor(target, source) ? 'fast_forward' : 'merge_commit';
}

/**
 * Returns the update that `strategy` makes when `plan` is needed. Returns undefined if the strategy does not allow the
 * merge. This is the case for `ff_only` if each branch has commits that the other lacks.
 */
export function applyStrategy(plan: MergePlan, strategy: MergeStrategy): MergePlan | undefined {
  if (plan === 'fast_forward' && strategy === 'merge') return 'merge_commit';
  if (plan === 'merge_commit' && strategy === 'ff_only') return undefined;
  return plan;
}

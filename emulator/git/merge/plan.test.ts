import t from 'tap';
import { History } from '../revwalk/history.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { applyStrategy, type MergeStrategy, planMerge } from './plan.js';
import { commit } from './test/files.js';

t.test('a plan says what a merge takes, and a strategy what becomes of it', async (t) => {
  const objects = new MemoryObjects();
  const root = commit(objects, { a: '1\n' }, []);
  const next = commit(objects, { a: '2\n' }, [root], 1);
  const other = commit(objects, { a: '3\n' }, [root], 2);
  const history = new History(objects);
  const plans = [planMerge(history, next, root), planMerge(history, root, next), planMerge(history, next, other)];
  t.same(plans, ['no_op', 'fast_forward', 'merge_commit']);
  t.equal(planMerge(history, root, root), 'no_op');
  const outcomes = (strategy: MergeStrategy) => plans.map((plan) => applyStrategy(plan, strategy));
  t.same(outcomes('merge'), ['no_op', 'merge_commit', 'merge_commit']);
  t.same(outcomes('ff_prefer'), ['no_op', 'fast_forward', 'merge_commit']);
  t.same(outcomes('ff_only'), ['no_op', 'fast_forward', undefined]);
});

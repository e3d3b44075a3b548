import t from 'tap';
import { runSync } from '../schedule/steps.js';
import { groupSteps } from './groups.js';
import { selectorOf } from './query.js';
import { keepHead, NO_HEAD } from './redaction.js';
import { watchedJournal } from './test/watched.js';

const GIT = { head: keepHead(['User-Agent', 'git/2.39.5'], NO_HEAD) };

t.test('requests are grouped by the values of members, the largest group first', async (t) => {
  const kinds = [{ status: 404, code: 'not_found' }, { status: 429, code: 'rate_limited', ...GIT }, { status: 200 }];
  const { journal } = watchedJournal(100, (at) => kinds[at < 10 ? 0 : at % 3]!);
  const groups = (...[query, by]: [Parameters<typeof selectorOf>[0], Parameters<typeof groupSteps>[2]]) =>
    runSync(groupSteps(journal.records(), selectorOf(query), by)).map(({ count, values }) => [count, values]);
  t.same(groups({ failed: true }, ['code', 'userAgent']), [
    [40, { code: 'not_found', userAgent: null }],
    [30, { code: 'rate_limited', userAgent: 'git/2.39.5' }],
  ]);
  t.same(groups({}, ['status']), [
    [40, { status: 404 }],
    [30, { status: 200 }],
    [30, { status: 429 }],
  ]);
  t.same(groups({ userAgent: 'none' }, ['code']), []);
});

t.test('the last request of a group is its newest', async (t) => {
  const { journal, add } = watchedJournal(3, () => ({ status: 404 }));
  add({ status: 200 });
  const newest = add({ status: 404 });
  const [group] = runSync(groupSteps(journal.records(), () => true, ['status']));
  t.match(group, { count: 4, last: newest.id });
});

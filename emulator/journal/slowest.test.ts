import t from 'tap';
import { runSync } from '../schedule/steps.js';
import type { RequestRecord } from './record.js';
import { type SlowPosition, slowestSteps, slowPositionOf } from './slowest.js';
import { watchedJournal } from './test/watched.js';

/** Durations of the requests of a journal, in microseconds. Some are equal. */
const durationOf = (at: number) => (at * 7919) % 50;

t.test('the slowest requests are read in parts, and equal ones newest first', async (t) => {
  const { journal } = watchedJournal(120, (at) => ({ micros: durationOf(at), status: at % 3 === 0 ? 404 : 200 }));
  const records = [...journal.records()];
  const expected = records
    .map((record) => [record.micros, record.sequence] as const)
    .sort(([a, first], [b, second]) => b - a || second - first);
  const readAll = (limit: number, select: (record: RequestRecord) => boolean = () => true) => {
    const found: SlowPosition[] = [];
    for (let after: SlowPosition | undefined; ; after = found.at(-1)) {
      const { page, hasMore } = runSync(slowestSteps(journal.records(), { select, after, limit }));
      found.push(...page.map(slowPositionOf));
      t.equal(page.length, hasMore ? limit : page.length);
      if (!hasMore) return found;
    }
  };
  for (const limit of [1, 7, 60, 119, 120, 1000]) t.same(readAll(limit), expected, `parts of ${limit}`);
  const failed = readAll(7, ({ status }) => status === 404);
  t.equal(failed.length, 40);
  t.same(
    failed,
    expected.filter(([, sequence]) => (sequence - 1) % 3 === 0),
  );
});

t.test('a request whose response has not ended has no duration', async (t) => {
  const { journal, add } = watchedJournal(2, () => ({ micros: 5 }));
  const open = add();
  open.ended = 0;
  const { page, hasMore } = runSync(
    slowestSteps(journal.records(), { select: () => true, after: undefined, limit: 10 }),
  );
  t.same(
    page.map(({ sequence }) => sequence),
    [2, 1],
  );
  t.notOk(hasMore);
});

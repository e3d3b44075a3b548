import t from 'tap';
import type { Journal } from './journal.js';
import { type RequestQuery, selectorOf } from './query.js';
import type { RequestRecord } from './record.js';
import { watchedJournal } from './test/watched.js';

interface PageOptions {
  readonly query?: RequestQuery;
  readonly order?: 'oldest' | 'newest' | undefined;
  readonly cursor?: number | undefined;
  readonly limit: number;
}

/**
 * Reads one page of the journal, like the admin route `GET requests`. The journal is the list of recorded requests. The
 * page begins after the request of `cursor`.
 */
function readPage(journal: Journal, { query, order, cursor, limit }: PageOptions) {
  const isWanted = selectorOf(query);
  const records: RequestRecord[] = [];
  for (const record of order === 'newest' ? journal.newestFirst(cursor) : journal.records(cursor)) {
    if (!isWanted(record)) continue;
    if (records.length === limit) return { records, next: records.at(-1)!.sequence };
    records.push(record);
  }
  return { records, next: undefined };
}

const read = { operation: 'getRepository' } as const;

t.test('requests are read in pages, oldest or newest first', async (t) => {
  const { journal } = watchedJournal(7, (at) => (at % 2 === 0 ? read : {}));
  const pages = (limit: number, query: RequestQuery = {}, order?: 'newest') => {
    const found: number[][] = [];
    for (let cursor: number | undefined; ; ) {
      const { records, next } = readPage(journal, { cursor, limit, order, query });
      found.push(records.map(({ id }) => Number(id.slice(4))));
      if (next === undefined) return found;
      cursor = next;
    }
  };
  t.same(pages(3), [[1, 2, 3], [4, 5, 6], [7]]);
  t.same(pages(7), [[1, 2, 3, 4, 5, 6, 7]]);
  t.same(pages(2, read), [
    [1, 3],
    [5, 7],
  ]);
  t.same(pages(3, {}, 'newest'), [[7, 6, 5], [4, 3, 2], [1]]);
  t.same(pages(2, read, 'newest'), [
    [7, 5],
    [3, 1],
  ]);
});

t.test('a page reads only its own requests, at any position', async (t) => {
  for (const dropped of [0, 7, 40]) {
    const { journal, reads } = watchedJournal(2_000 + dropped, () => ({}), 2_000);
    for (const order of ['oldest', 'newest'] as const) {
      let last = 0;
      for (let cursor: number | undefined; ; ) {
        reads.count = 0;
        const { records, next } = readPage(journal, { cursor, limit: 100, order });
        t.ok(reads.count < 1_000, `${reads.count} members of ${records.length} requests`);
        for (const { sequence } of records) {
          if (last !== 0 && sequence !== last + (order === 'newest' ? -1 : 1)) t.fail(`${sequence} behind ${last}`);
          last = sequence;
        }
        if (next === undefined) break;
        cursor = next;
      }
      t.equal(last, order === 'newest' ? 1 + dropped : 2_000 + dropped);
    }
  }
});

t.test('a restored journal can be read in both directions', async (t) => {
  const { journal, add } = watchedJournal(21);
  const snapshot = journal.snapshot();
  add();
  journal.restore(snapshot);
  for (let at = 0; at < 30; at++) add();
  const sequences = (order: 'oldest' | 'newest') =>
    readPage(journal, { order, limit: 100 }).records.map(({ sequence }) => sequence);
  const all = Array.from({ length: 51 }, (_, at) => at + 1);
  t.same(sequences('oldest'), all);
  t.same(sequences('newest'), all.toReversed());
  journal.clear();
  t.same([sequences('oldest'), sequences('newest')], [[], []]);
});

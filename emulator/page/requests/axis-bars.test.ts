import t from 'tap';
import { rowsAt, rowWith } from '../test/row.js';
import { barName, barsOf, MIN_BAR, retryLines } from './axis-bars.js';
import { lanesOf } from './axis-lanes.js';
import { TimeScale } from './axis-scale.js';
import type { Row } from './entry.js';

function barsAt(rows: readonly Row[], pixelsPerMs: number) {
  const scale = new TimeScale({ start: 0, end: Math.max(...rows.map(({ started }) => started)) }, [], pixelsPerMs);
  return barsOf(lanesOf(rows, 'client')[0]!, scale);
}

const groups = (rows: readonly Row[], pixelsPerMs: number) =>
  barsAt(rows, pixelsPerMs).map((bar) => bar.rows.map(({ started }) => started));

t.test('requests in the same pixel columns are one bar, and separate bars when enlarged', async (t) => {
  const rows = rowsAt(Array.from({ length: 100 }, (_, at) => [at * 2, 1]));
  t.equal(barsAt(rows, 20).length, 100);
  const merged = barsAt(rows, 1);
  t.equal(merged.length, 17, 'six requests in each 12 pixels');
  t.ok(merged.slice(0, -1).every(({ rows: { length } }) => length === 6));
  t.ok(merged.every((bar, at) => bar.right <= (merged[at + 1]?.left ?? Number.POSITIVE_INFINITY)));
  t.ok(merged.every(({ left, right }) => right - left >= MIN_BAR));
});

t.test('a long request after a short one keeps its own bar', async (t) => {
  t.same(
    groups(
      rowsAt([
        [0, 1],
        [2, 100],
        [103, 1],
        [104, 1],
      ]),
      1,
    ),
    [[0], [2], [103, 104]],
  );
  const [short, long] = barsAt(
    rowsAt([
      [0, 1],
      [2, 100],
    ]),
    1,
  );
  t.equal(long!.left, short!.right, 'it begins at the end of the short bar');
});

t.test('a bar of several requests links to the first failed one', async (t) => {
  const rows = rowsAt([
    [0, 1],
    [1, 1],
    [2, 1],
  ]).map((row, at) => ({ ...row, status: [200, 503, 404][at]! }));
  const [bar] = barsAt(rows, 1);
  t.equal(bar!.row.id, 'req-00000002');
});

t.test('bars of concurrent requests are ordered by their positions', async (t) => {
  const bars = barsAt(
    rowsAt([
      [0, 100],
      [20, 20],
      [60, 100],
      [110, 20],
    ]),
    1,
  );
  t.same(
    bars.map(({ track, rows }) => [track, rows[0]!.started]),
    [
      [0, 0],
      [1, 20],
      [1, 60],
      [0, 110],
    ],
  );
});

t.test('a line connects a failed request with its retry', async (t) => {
  const retried = rowsAt([
    [0, 10],
    [50, 10],
    [90, 10],
  ]).map((row, at) => ({
    ...row,
    retryOf: [undefined, 'req-00000001', 'req-00000099'][at],
  }));
  const lines = retryLines(barsAt(retried, 1));
  t.same(
    lines.map(({ from, to }) => [from.row.id, to.row.id]),
    [['req-00000001', 'req-00000002']],
    'no line to a request that is not listed',
  );
  t.same(retryLines(barsAt(retried, 0.01)), [], 'no line within one bar');
});

t.test('the name of a bar has the result, the duration, the repeated request and the broken rules', async (t) => {
  const row = rowWith({ status: 503, duration: 12, retryOf: 'req-00000003' });
  t.equal(
    barName({ rows: [row], row }, ['retry-after']),
    'GET /api/v1/repo 503, 12 ms, retry of req-00000003, breaks retry-after',
  );
  const ok = rowWith({ method: 'POST' });
  t.equal(barName({ rows: [ok], row: ok }, []), 'POST /api/v1/repo 200, 1.0 ms');
  t.equal(
    barName({ rows: [ok, row, row], row }, ['back-off']),
    '3 requests, 2 failed, 2 retries, breaks back-off: first failed GET /api/v1/repo 503, 12 ms, retry of req-00000003',
  );
  t.equal(barName({ rows: [ok, ok], row: ok }, []), '2 requests: first POST /api/v1/repo 200, 1.0 ms');
  for (const [outcome, status, text] of [
    ['cut', 200, '200 (cut by the emulator)'],
    ['gone', 0, 'no response (the client disconnected)'],
  ] as const) {
    const broken = rowWith({ outcome, status });
    t.equal(barName({ rows: [broken], row: broken }, []), `GET /api/v1/repo ${text}, 1.0 ms`);
  }
  const hostile = rowWith({ target: `/\u202e${'x'.repeat(200)}` });
  const name = barName({ rows: [hostile], row: hostile }, []);
  t.match(name, '/⟦U+202E⟧xxx');
  t.ok(name.length < 140);
  t.match(name, 'x… 200');
});

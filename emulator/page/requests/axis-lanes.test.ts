import t from 'tap';
import { rowsAt, rowWith } from '../test/row.js';
import { byStart, lanesOf, longPauses, MAX_TRACKS, pausesOf, readLaneKind } from './axis-lanes.js';

t.test('a client is the subject of the token, or the user agent', async (t) => {
  const rows = [
    rowWith({ id: 'a', sender: 'ada', userAgent: 'git/2' }),
    rowWith({ id: 'b', sender: 'bob', userAgent: 'git/2' }),
    rowWith({ id: 'c', userAgent: 'git/2' }),
    rowWith({ id: 'd' }),
    rowWith({ id: 'e', sender: 'ada', userAgent: 'curl/8' }),
    rowWith({ id: 'f', userAgent: 'ada' }),
  ];
  const idsBy = (kind: 'client' | 'agent') =>
    lanesOf(rows, kind).map(({ client, tracks }) => [
      client.subject ?? client.userAgent,
      tracks
        .flat()
        .map(({ id }) => id)
        .join(''),
    ]);
  t.same(idsBy('client'), [
    ['ada', 'ae'],
    ['bob', 'b'],
    ['git/2', 'c'],
    [undefined, 'd'],
    ['ada', 'f'],
  ]);
  t.same(idsBy('agent'), [
    ['git/2', 'abc'],
    [undefined, 'd'],
    ['curl/8', 'e'],
    ['ada', 'f'],
  ]);
});

t.test('requests of one client that overlap are in different tracks', async (t) => {
  const rows = rowsAt([
    [0, 10],
    [5, 10],
    [7, 1],
    [8, 1],
    [10, 5],
    [16, 1],
  ]);
  const [lane] = lanesOf(rows, 'client');
  t.same(
    lane!.tracks.map((track) => track.map(({ started }) => started)),
    [[0, 10, 16], [5], [7, 8]],
    'a track is used again when its last request has ended',
  );
  t.equal(lane!.size, 6);
  const [crowd] = lanesOf(rowsAt(Array.from({ length: 20 }, () => [0, 1])), 'client');
  t.same(
    crowd!.tracks.map(({ length }) => length),
    [1, 1, 1, 1, 20 - MAX_TRACKS + 1],
    'the last track has all further requests',
  );
});

t.test('pauses are the periods in which no request is open', async (t) => {
  t.same(pausesOf([]), []);
  const rows = byStart(
    rowsAt([
      [30, 5],
      [0, 10],
      [2, 20],
      [5, 1],
      [35, 1],
      [40, 1],
    ]),
  );
  t.same(pausesOf(rows), [
    { start: 22, end: 30 },
    { start: 36, end: 40 },
  ]);
});

t.test('pauses that are much longer than usual are shortened, and never some of similar ones', async (t) => {
  /** Returns the lengths of the shortened pauses, if requests of 1 ms have pauses of these lengths between them. */
  const long = (lengths: readonly number[]) => {
    let started = 0;
    const later = lengths.map((length) => {
      started += length + 1;
      return [started, 1] as const;
    });
    return longPauses(rowsAt([[0, 1], ...later])).map(({ start, end }) => end - start);
  };
  t.same(long([]), []);
  t.same(long([600_000]), [], 'two requests');
  t.same(long([1_000, 2_000, 4_000, 8_000]), [], 'pauses of retries keep their proportions');
  t.same(long([1, 1, 600_000, 1, 99, 101]), [600_000, 101]);
  t.same(long([1, 600_000]), [600_000]);
  const bursts = [0, 1, 2, 3, 600_000, 600_001].map((started) => [started, 10] as const);
  t.same(longPauses(rowsAt(bursts)), [{ start: 13, end: 600_000 }], 'concurrent requests without other pauses');
  const short = Array.from({ length: 100 }, () => 1);
  t.same(long([...short, ...Array.from({ length: 41 }, (_, at) => 1_000 + at)]), [], 'too many of similar lengths');
  t.same(long([...short, ...Array.from({ length: 41 }, () => 1_000), 2_001, 1_999]), [2_001]);
  t.equal(long([...short, ...Array.from({ length: 40 }, () => 1_000)]).length, 40);
});

t.test('an unknown grouping is refused', async (t) => {
  t.equal(readLaneKind(undefined), undefined);
  t.equal(readLaneKind('agent'), 'agent');
  t.throws(() => readLaneKind('day'), { message: 'The time axis "day" is unknown. Use client or agent.' });
});

import t from 'tap';
import { rowWith } from '../test/row.js';
import { clockMoves } from './clock-moves.js';

/** Returns the moves of the clock that requests at these real times and times of the emulator show. */
function moves(times: readonly (readonly [started: number, began: number, number?: number])[]): string[] {
  const rows = times.map(([started, began, number], at) => rowWith({ id: `req-${number ?? at}`, started, began }));
  return clockMoves(rows).map(({ time, text }) => `${time}: ${text}`);
}

/** Returns times of requests every 10 ms, from a real time and an emulator's time on. `began` advances by `step`. */
function every10(started: number, began: number, step: number, count = 40) {
  return Array.from({ length: count }, (_, at) => [started + at * 10, began + at * step] as const);
}

t.test('no change is reported while the clock follows real time', async (t) => {
  t.same(moves([]), []);
  t.same(
    moves([
      [0, 0],
      [0.4, 1],
      [100, 100],
      [100_000, 100_050],
      [700_000, 699_800],
    ]),
    [],
  );
  t.same(
    moves([...every10(0, 0, 10), [400, 900], [1_000, 1_000], ...every10(1_100, 1_100, 10), [1_600, 1_650]]),
    [],
    'the emulator was interrupted between the readings of the clocks',
  );
});

t.test('moves of the clock are reported at the next request', async (t) => {
  t.same(
    moves([
      [0, 0],
      [500, 3_600_500],
      [1_000, 3_601_000],
    ]),
    ['500: clock +1 h'],
  );
  t.same(
    moves([
      [0, 0],
      [500, 3_600_499],
    ]),
    ['500: clock +1 h'],
    'the last request',
  );
  t.same(
    moves([
      [0, 0],
      [600_000, 600_000],
      [600_500, 630_500],
    ]),
    ['600500: clock +30.00 s'],
  );
  t.same(
    moves([
      [0, 0],
      [500, -59_500],
      [1_000, -59_000],
    ]),
    ['500: clock −1 min'],
  );
  t.same(
    moves([
      [0, 0],
      [60_000, 60_000],
      [60_100, 30_100],
    ]),
    ['60100: clock −30.00 s'],
  );
});

t.test('a clock that stands still is reported once, until it follows real time again', async (t) => {
  t.same(
    moves([
      [0, 0],
      [1, 0],
      [300, 0],
      [600, 0],
      [700, 60_000],
      [900, 60_000],
      [1_900, 61_000],
      [2_000, 61_100],
    ]),
    ['0: clock still', '700: clock +1 min', '1900: clock runs'],
  );
  const stopped = [...every10(0, 0, 10), ...every10(400, 390, 0), ...every10(800, 390, 10)];
  t.same(moves(stopped), ['390: clock still', '930: clock runs'], 'frequent requests');
});

t.test('the steps of a clock that advances with each request are not moves', async (t) => {
  const ticking = Array.from({ length: 500 }, (_, at) => [at * 0.2, at, at] as const);
  t.same(moves(ticking), []);
  t.same(
    moves([
      [0, 0, 1],
      [100, 1_000, 1_001],
    ]),
    [],
    'a filter hides the requests in between',
  );
  t.same(
    moves([
      [0, 0, 1],
      [500, 1_500, 2],
    ]),
    ['500: clock +1.00 s'],
  );
  t.same(
    moves([
      [0, 0],
      [100, 1],
      [200, 2],
      [300, 3],
    ]),
    ['2: clock still'],
  );
});

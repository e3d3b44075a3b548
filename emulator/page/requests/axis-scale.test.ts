import t from 'tap';
import { breakWidthFor, elapsedText, fittingScale, lengthText, limited, TimeScale, ticksOf } from './axis-scale.js';

const PERIOD = { start: 1_000, end: 601_000 };
const PAUSE = { start: 1_100, end: 600_900 };

t.test('the scale is linear outside of shortened pauses, which have a fixed width', async (t) => {
  const scale = new TimeScale(PERIOD, [PAUSE], 2);
  const origin = scale.xOf(1_000);
  t.equal(scale.xOf(1_050) - origin, 100);
  t.equal(scale.xOf(1_100) - origin, 200);
  t.equal(scale.xOf(601_000) - scale.xOf(600_900), 200);
  t.equal(scale.xOf(600_900) - scale.xOf(1_100), scale.breakWidth);
  t.equal(scale.xOf(301_000) - scale.xOf(1_100), scale.breakWidth / 2, 'half of the pause is half of its width');
  for (const time of [1_000, 1_050, 1_100, 301_000, 600_900, 600_950, 601_000]) {
    t.equal(Math.round(scale.timeAt(scale.xOf(time))), time, `${time} and back`);
  }
  t.ok(scale.width > scale.xOf(601_000) + 10, 'a narrow bar fits at the end');
});

t.test('the axis fits a width, and is never wider than a browser can lay out', async (t) => {
  for (const breaks of [[], [PAUSE]]) {
    for (const width of [300, 1_440]) {
      t.equal(Math.round(new TimeScale(PERIOD, breaks, fittingScale(PERIOD, breaks, width)).width), width);
    }
  }
  const many = Array.from({ length: 40 }, (_, at) => ({ start: 2_000 + at * 10_000, end: 11_000 + at * 10_000 }));
  const narrow = new TimeScale(PERIOD, many, fittingScale(PERIOD, many, 400), breakWidthFor(many, 400));
  t.equal(Math.round(narrow.width), 400, 'many pauses are narrower');
  t.ok(new TimeScale(PERIOD, [], limited(1e9, PERIOD, [])).width < 8_000_100);
  const instant = { start: 5, end: 5 };
  t.ok(new TimeScale(instant, [], fittingScale(instant, [], 300)).width < 300, 'no time passes');
});

t.test('ticks have round times since the start, and none within a shortened pause', async (t) => {
  const texts = (scale: TimeScale, from = 0, to = scale.width) => ticksOf(scale, from, to).map(({ text }) => text);
  t.same(texts(new TimeScale({ start: 7, end: 507 }, [], 1)), [
    '0 ms',
    '100 ms',
    '200 ms',
    '300 ms',
    '400 ms',
    '500 ms',
  ]);
  const broken = ticksOf(new TimeScale(PERIOD, [PAUSE], 2), 0, 1_000);
  t.same(
    broken.map(({ text }) => text),
    ['0 ms', '50 ms', '100 ms', '9:59.95', '10:00.00'],
  );
  const close = new TimeScale(PERIOD, [{ start: 1_100, end: 600_948 }], 2);
  t.same(texts(close).slice(2), ['100 ms', '10:00.00'], 'a tick too close to the previous one is left out');
  const wide = new TimeScale(PERIOD, [], 10);
  const x = wide.xOf(301_000);
  t.same(texts(wide, x - 1, x + 150), ['4:59.99', '5:00.00', '5:00.01'], 'only those in view');
});

t.test('times have the decimals that their distance needs', async (t) => {
  const expected = [
    [0, 100, '0 ms'],
    [2.5, 0.5, '2.5 ms'],
    [250, 50, '250 ms'],
    [0, 5_000, '0 s'],
    [1_500, 500, '1.5 s'],
    [59_000, 1_000, '59 s'],
    [60_000, 1_000, '1:00'],
    [590_250, 50, '9:50.25'],
    [3_725_000, 5_000, '1:02:05'],
  ] as const;
  for (const [time, step, text] of expected) t.equal(elapsedText(time, step), text);
  t.equal(lengthText(12), '12 ms');
  t.equal(lengthText(3_450), '3.45 s');
  t.equal(lengthText(590_000), '9 min 50 s');
});

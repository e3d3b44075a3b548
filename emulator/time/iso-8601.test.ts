import t from 'tap';
import { isoTime, parseDuration, parseTime } from './iso-8601.js';

t.test('durations', (t) => {
  for (const [text, milliseconds] of [
    ['PT30S', 30_000],
    ['PT0.25S', 250],
    ['PT1,5S', 1_500],
    ['PT1H30M', 5_400_000],
    ['P1DT2H', 93_600_000],
    ['P2W', 1_209_600_000],
    ['PT0S', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ] as const)
    t.equal(parseDuration(text), milliseconds, text);
  for (const text of [
    '',
    'P',
    'PT',
    'P1',
    '30',
    'PT30',
    '-PT1S',
    'P1M',
    'P1Y',
    'PT1S ',
    'P1DT',
    '1.5s',
    `P${'9'.repeat(20)}W`,
  ])
    t.equal(parseDuration(text), undefined, JSON.stringify(text));
  t.end();
});

t.test('times', (t) => {
  for (const [text, time] of [
    ['2026-01-01T00:00:00Z', 1_767_225_600_000],
    ['2026-01-01T00:00Z', 1_767_225_600_000],
    ['2026-01-01', 1_767_225_600_000],
    ['2026-01-01T01:00:00.250+01:00', 1_767_225_600_250],
  ] as const)
    t.equal(parseTime(text), time, text);
  for (const text of [
    '',
    'now',
    '2026',
    '2026-01-01T00:00:00',
    '2026-13-01',
    '2026-02-29T00:00:00Z',
    '2026-01-01 00:00:00Z',
    '1767225600000',
  ])
    t.equal(parseTime(text), undefined, JSON.stringify(text));
  t.end();
});

t.test('isoTime formats times like Date.toISOString', (t) => {
  const given = [0, 1, 999, 1_000, -1, -999, -1_000, -1_001, 1.7, -0.5, 1_764_309_600_123, 1_764_309_600_999];
  for (const time of [...given, 8.64e15, -8.64e15, 253_402_300_800_000, -62_198_755_200_000]) {
    for (const near of [time, time + 1, time - 1, time]) {
      if (Math.abs(near) <= 8.64e15) t.equal(isoTime(near), new Date(near).toISOString(), `${near}`);
    }
  }
  for (const time of [Number.NaN, 8.64e15 + 1_000, Number.POSITIVE_INFINITY]) t.throws(() => isoTime(time), RangeError);
  t.equal(isoTime(0), '1970-01-01T00:00:00.000Z');
  t.end();
});

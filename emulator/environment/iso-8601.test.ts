import t from 'tap';
import { parseDuration, parseTime } from './iso-8601.js';

t.test('durations', (t) => {
  const rows: [string, number | undefined][] = [
    ['PT0S', 0],
    ['PT5S', 5_000],
    ['PT0.25S', 250],
    ['PT1,5S', 1_500],
    ['PT1M30S', 90_000],
    ['PT2H', 7_200_000],
    ['P1DT1S', 86_401_000],
    ['P2W', 1_209_600_000],
    ['P', undefined],
    ['PT', undefined],
    ['P1DT', undefined],
    ['P1Y', undefined],
    ['P1M', undefined],
    ['-PT5S', undefined],
    ['5s', undefined],
    ['pt5s', undefined],
    ['', undefined],
  ];
  for (const [text, milliseconds] of rows) t.equal(parseDuration(text), milliseconds, text);
  t.end();
});

t.test('times', (t) => {
  const rows: [string, number | undefined][] = [
    ['2026-01-01T00:00:00Z', Date.UTC(2026, 0, 1)],
    ['2026-01-01', Date.UTC(2026, 0, 1)],
    ['2026-01-01T01:00+01:00', Date.UTC(2026, 0, 1)],
    ['2026-01-01T00:00:00.25Z', Date.UTC(2026, 0, 1) + 250],
    ['2026-01-01T00:00:00', undefined],
    ['2026-02-30T00:00:00Z', undefined],
    ['2026-13-01', undefined],
    ['tomorrow', undefined],
    ['0', undefined],
  ];
  for (const [text, time] of rows) t.equal(parseTime(text), time, text);
  t.end();
});

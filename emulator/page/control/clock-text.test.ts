import t from 'tap';
import { showSpan, showTime } from './clock-text.js';

t.test('durations are shown in their two largest units', async (t) => {
  const expected: Readonly<Record<number, string>> = {
    0: '0 s',
    999: '0 s',
    1000: '1 s',
    61000: '1 min 1 s',
    3600000: '1 h',
    5400000: '1 h 30 min',
    86401000: '1 d 1 s',
    90061000: '1 d 1 h',
  };
  for (const [span, text] of Object.entries(expected)) t.equal(showSpan(Number(span)), text);
});

t.test('a time is shown to the millisecond', async (t) => {
  t.equal(showTime({ now: '2026-01-02T03:04:05.006Z' }), '2026-01-02 03:04:05.006 UTC');
});

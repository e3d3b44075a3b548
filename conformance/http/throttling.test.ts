import t from 'tap';
import { secondsOf } from './throttling.js';

t.test('Retry-After is seconds or a date', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  t.equal(secondsOf('12', now), 12);
  t.equal(secondsOf('Thu, 01 Jan 2026 00:00:30 GMT', now), 30);
  t.equal(secondsOf('Thu, 01 Jan 2025 00:00:30 GMT', now), 0);
  for (const odd of ['soon', '-1', '1.5', '', undefined]) t.equal(secondsOf(odd, now), undefined, String(odd));
});

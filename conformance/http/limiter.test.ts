import t from 'tap';
import { AdaptivePace, createLimiter } from './limiter.js';

t.test('the limiter spaces requests evenly', async (t) => {
  let now = 0;
  const limiter = createLimiter(
    5,
    () => now,
    async (milliseconds) => {
      now += milliseconds;
    },
  );
  const times: number[] = [];
  for (let index = 0; index < 4; index++) {
    await limiter.take();
    times.push(now);
  }
  t.same(times, [0, 200, 400, 600]);
});

t.test('an adaptive pace follows the quota of the target', async (t) => {
  const pace = new AdaptivePace(5);
  pace.see(undefined);
  t.equal(pace.perSecond, 5, 'without a quota, the pace stays');
  pace.see({ remaining: 100, seconds: 10 });
  t.equal(pace.perSecond, 8, '80 % of the quota');
  pace.see({ remaining: 0, seconds: 60 });
  t.equal(pace.perSecond, 8, 'an exhausted quota is left to the pause after 429');
  pace.see({ remaining: 1_000_000, seconds: 0 });
  t.equal(pace.perSecond, 100);
  pace.see({ remaining: 1, seconds: 3600 });
  t.equal(pace.perSecond, 0.5);
  let now = 0;
  const limiter = createLimiter(
    pace,
    () => now,
    async (milliseconds) => {
      now += milliseconds;
    },
  );
  await limiter.take();
  pace.see({ remaining: 100, seconds: 10 });
  await limiter.take();
  await limiter.take();
  t.equal(now, 2000 + 125);
});

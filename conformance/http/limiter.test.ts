import t from 'tap';
import { createLimiter } from './limiter.js';

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

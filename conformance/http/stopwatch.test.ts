import t from 'tap';
import { Stopwatch } from './stopwatch.js';

t.test('the time limit of a rule counts its requests but not its waiting', async (t) => {
  let now = 0;
  const stopwatch = new Stopwatch(() => now);
  now += 5;
  t.equal(stopwatch.elapsed, 5, 'it works');
  await stopwatch.wait(async () => {
    now += 100;
  });
  t.equal(stopwatch.elapsed, 5, 'it waits');
  await stopwatch.ask(async () => {
    now += 10;
  });
  t.equal(stopwatch.elapsed, 15, 'it asks');
  await stopwatch.wait(() =>
    stopwatch.ask(async () => {
      now += 20;
    }),
  );
  t.equal(stopwatch.elapsed, 35, 'one request is under way while another waits');
  now += 1;
  t.equal(stopwatch.elapsed, 36);
});

t.test('only work counts towards the limit', async (t) => {
  const stopwatch = new Stopwatch();
  let isReached = false;
  await stopwatch.wait(async () => {
    stopwatch.limit(1, () => {
      isReached = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
  });
  t.notOk(isReached);
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.ok(isReached);
  const stopped = new Stopwatch();
  stopped.limit(1, () => t.fail('it was stopped'));
  stopped.stop();
  await new Promise((resolve) => setTimeout(resolve, 30));
});

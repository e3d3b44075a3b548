import t from 'tap';
import { Meter, WorkLimitExceeded } from './meter.js';
import { Schedule, ScheduleClosed, SLICE } from './schedule.js';
import { runYielding, type Steps } from './steps.js';

/**
 * Spends `units` work units in pieces of `piece`. After each piece, calls `done`, and yields if the time slice is over.
 */
async function work(meter: Meter, units: number, piece: number, done: () => void): Promise<void> {
  for (let spent = 0; spent < units; spent += piece) {
    meter.spend(piece);
    done();
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
}

const frozen = () => new Schedule({ now: () => 0 });

t.test('each iteration of the event loop runs one slice, regardless of the number of tasks', async (t) => {
  const schedule = frozen();
  const piece = 100;
  const workers = Array.from({ length: 50 }, () => work(new Meter({ schedule }), 3 * SLICE, piece, () => undefined));
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(workers);
  isDone = true;
  t.ok(schedule.longestSlice <= SLICE + 50 * (piece + 1), `${schedule.longestSlice} units at most`);
  t.ok(turns >= 100, `the loop turned ${turns} times`);
});

t.test('tasks take turns, so that none waits for the end of another', async (t) => {
  const schedule = frozen();
  const ends: string[] = [];
  const long = work(new Meter({ schedule }), 100 * SLICE, SLICE, () => undefined).then(() => ends.push('long'));
  const short = work(new Meter({ schedule }), 2 * SLICE, SLICE, () => undefined).then(() => ends.push('short'));
  await Promise.all([long, short]);
  t.same(ends, ['short', 'long']);
});

t.test('a limit counts the work of one meter, not that of others nor waiting', async (t) => {
  const schedule = frozen();
  const limit = 20;
  await Promise.all([
    work(new Meter({ schedule, limit }), 10_000, 1000, () => undefined),
    work(new Meter({ schedule }), 1_000_000, 1000, () => undefined),
    t.rejects(
      work(new Meter({ schedule, limit }), 50_000, 1000, () => undefined),
      WorkLimitExceeded,
    ),
  ]);
  const meter = new Meter({ schedule, limit });
  meter.suspend();
  schedule.spend(1_000_000);
  meter.resume();
  t.doesNotThrow(() => meter.check());
});

t.test('a loop that reports no work is counted by its iterations', async (t) => {
  const schedule = frozen();
  function* rounds(): Steps<void> {
    for (let round = 0; round < 10_000; round++) yield 0;
  }
  await runYielding(rounds(), new Meter({ schedule }));
  t.ok(schedule.spent >= 10_000 && schedule.longestSlice <= SLICE + 1);
});

t.test('a slice also ends after a time limit, if its work was underestimated', async (t) => {
  let now = 0;
  const schedule = new Schedule({ now: () => now });
  const meter = new Meter({ schedule });
  t.equal(meter.shouldYield, false);
  now = 100;
  t.equal(meter.shouldYield, true);
  await meter.yieldToEventLoop();
  t.equal(meter.shouldYield, false);
});

t.test('closing rejects waiting and later tasks', async (t) => {
  const schedule = frozen();
  const meter = new Meter({ schedule });
  const waiting = meter.yieldToEventLoop();
  schedule.close();
  await t.rejects(waiting, ScheduleClosed);
  t.equal(meter.shouldYield, true);
  await t.rejects(meter.yieldToEventLoop(), ScheduleClosed);
});

t.test('a meter ends when its signal is aborted', async (t) => {
  const controller = new AbortController();
  const meter = new Meter({ schedule: frozen(), signal: controller.signal });
  const waiting = meter.yieldToEventLoop();
  controller.abort(new Error('gone'));
  await t.rejects(waiting, { message: 'gone' });
});

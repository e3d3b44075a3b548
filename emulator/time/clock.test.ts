import t from 'tap';
import { WorldClock } from './clock.js';

t.test('timers run in order of time, and canceled timers do not run', (t) => {
  const clock = new WorldClock(1000);
  const woken: string[] = [];
  const wake = (name: string) => () => void woken.push(`${name} at ${clock.now()}`);
  clock.at(1020, wake('late'));
  clock.at(1010, wake('early'));
  clock.at(1010, wake('early too'));
  clock.at(1015, wake('never'))();
  void clock.advance(9);
  t.same(woken, []);
  clock.tick();
  t.same(woken, ['early at 1010', 'early too at 1010']);
  void clock.advance(100);
  t.same(woken.slice(2), ['late at 1020'], 'which sees the time it waited for');
  t.equal(clock.now(), 1110);
  void clock.advance(100);
  t.equal(woken.length, 3);
  t.end();
});

t.test('advancing a clock waits for its timers, and runs timers that they set', async (t) => {
  const clock = new WorldClock(0);
  const seen: number[] = [];
  const attempt = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(clock.now());
    if (seen.length < 4) clock.at(clock.now() + 2 ** seen.length, attempt);
  };
  clock.at(1, attempt);
  const first = clock.advance(10);
  const second = clock.advance(10);
  t.same([clock.now(), seen], [1, []], 'the time of what runs is shown while it runs');
  await first;
  t.same(seen, [1, 3, 7]);
  await second;
  t.same(seen, [1, 3, 7, 15], 'the second move begins where the first one ends');
  t.equal(clock.now(), 20);
});

t.test('modes: real time, a frozen clock, and a clock that moves with requests', async (t) => {
  let machine = 5_000;
  const clock = new WorldClock('real', () => machine);
  t.equal(clock.now(), 5_000);
  t.ok(clock.isMachine);
  clock.tick();
  t.equal(clock.now(), 5_000, 'requests do not move the machine’s');
  await clock.advance(1_000);
  t.equal(clock.now(), 6_000, 'it can be ahead');
  t.notOk(clock.isMachine);
  machine += 1;
  t.equal(clock.now(), 6_001);
  await clock.change({ mode: 'frozen' });
  machine += 100;
  clock.tick();
  t.equal(clock.now(), 6_001, 'frozen where it was');
  await clock.change({ mode: 'tick', now: 10, advance: 5 });
  clock.tick();
  t.equal(clock.now(), 16);
  const kept = clock.snapshot();
  await clock.change({ mode: 'real' });
  t.equal(clock.now(), machine, 'real is the machine’s again');
  t.ok(clock.isMachine);
  await clock.change({ now: 1 });
  machine += 2;
  t.equal(clock.now(), 3, 'or starts from where it is set');
  clock.restore(kept);
  t.same([clock.snapshot().mode, clock.now()], ['tick', 16]);
});

t.test('in real time each timer runs separately when it is due', async (t) => {
  const clock = new WorldClock('real');
  const keepAlive = setTimeout(() => {}, 5_000);
  await new Promise<void>((resolve) => void clock.at(Date.now() - 5, resolve));
  clock.at(Date.now() + 10, () => void t.fail('called off'))();
  clock.at(Date.now() + 1, () => new Promise<void>(() => {}));
  await new Promise<void>((resolve) => void clock.at(Date.now() + 20, resolve));
  clock.at(clock.now() + 3_600_000, () => clearTimeout(keepAlive));
  await clock.advance(3_600_000);
  t.ok(clock.now() > Date.now() + 3_500_000);
});

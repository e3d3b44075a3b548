import t from 'tap';
import { Latches } from './latches.js';

/**
 * Waits for one turn of the event loop, in which released requests continue. Returns the names of the requests in
 * `held` that no longer wait.
 */
async function settled(held: Readonly<Record<string, Promise<void>>>): Promise<string[]> {
  const done: string[] = [];
  for (const [name, one] of Object.entries(held)) void one.then(() => done.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  return done;
}

t.test('a release resumes only what waits for the latch', async (t) => {
  const latches = new Latches();
  const { signal } = new AbortController();
  const held = { one: latches.hold('a', signal), two: latches.hold('a', signal), other: latches.hold('b', signal) };
  t.same(await settled(held), []);
  t.same(
    [...latches.waiting()],
    [
      ['a', 2],
      ['b', 1],
    ],
  );
  t.equal(latches.release('a'), 2);
  t.same(await settled(held), ['one', 'two']);
  t.same([...latches.waiting()], [['b', 1]]);
});

t.test('a release without waiters has no effect on later ones', async (t) => {
  const latches = new Latches();
  t.equal(latches.release('a'), 0);
  t.same(await settled({ late: latches.hold('a', new AbortController().signal) }), []);
  t.equal(latches.release('a'), 1);
});

t.test('a disconnected client no longer waits', async (t) => {
  const latches = new Latches();
  const client = new AbortController();
  const held = { gone: latches.hold('a', client.signal), here: latches.hold('a', new AbortController().signal) };
  client.abort();
  t.same(await settled(held), ['gone']);
  t.same([...latches.waiting()], [['a', 1]]);
  t.same(await settled({ late: latches.hold('b', client.signal) }), ['late'], 'nor begins to');
});

t.test('closed latches release everything and hold nothing', async (t) => {
  const latches = new Latches();
  const { signal } = new AbortController();
  const held = { one: latches.hold('a', signal), two: latches.hold('b', signal) };
  latches.close();
  t.same(await settled(held), ['one', 'two']);
  t.same(await settled({ late: latches.hold('a', signal) }), ['late']);
  t.equal(latches.waiting().size, 0);
});

import t from 'tap';
import { type EndedRequest, type MissedRequests, subscribe } from './subscription.js';
import { type WatchedJournal, watchedJournal } from './test/watched.js';

type SubscriptionEvent = EndedRequest | MissedRequests;

/** Waits for the next `count` events of a subscription (stream of journal events). Returns these events. */
async function take(source: AsyncIterator<SubscriptionEvent>, count: number): Promise<SubscriptionEvent[]> {
  const events: SubscriptionEvent[] = [];
  while (events.length < count) events.push((await source.next()).value as SubscriptionEvent);
  return events;
}

const numbers = (events: readonly SubscriptionEvent[]) =>
  events.map((one) => ('missed' in one ? `-${one.missed}` : one.id));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/**
 * Sequences of requests, some of which repeat requests. Each function returns the properties of the request at index
 * `at`.
 */
const SHAPES = {
  'requests without retries': () => ({}),
  'failures that are not repeated': (at: number) => ({ status: 404, path: `/${at}` }),
  'one failure, then requests that differ only in the query': (at: number) => ({
    status: at === 0 ? 503 : 200,
    query: at === 0 ? 'a' : 'b',
  }),
  'one request that fails repeatedly': () => ({ status: 503 }),
};

for (const [name, make] of Object.entries(SHAPES)) {
  t.test(`the work of a replay is linear in the number of requests: ${name}`, async (t) => {
    const replay = async (entries: number, bodies: boolean) => {
      const { journal, reads } = watchedJournal(entries, make);
      const source = subscribe(journal, { after: 0, write: (record) => journal.write(record, { bodies }) });
      const events = await take(source, entries);
      await source.return();
      t.same(numbers(events), range(1, entries));
      return reads.count;
    };
    for (const bodies of [true, false]) {
      const [half, whole] = [await replay(1_000, bodies), await replay(2_000, bodies)];
      t.ok(whole < 2.2 * half, `${half} members read, then ${whole}`);
      t.ok(whole < 2_000 * 300, `${whole} members read`);
    }
  });

  t.test(`the cost of reporting a request does not depend on the number of earlier requests: ${name}`, async (t) => {
    const tell = async (entries: number) => {
      const { journal, reads, add } = watchedJournal(entries, make);
      const source = subscribe(journal);
      const first = source.next();
      add(make(entries));
      await first;
      reads.count = 0;
      add(make(entries + 1));
      const [event] = await take(source, 1);
      t.equal((event as EndedRequest).id, entries + 2);
      await source.return();
      return reads.count;
    };
    const [few, many] = [await tell(100), await tell(4_000)];
    t.ok(many < 2 * few + 100, `${few} members read, then ${many}`);
  });
}

t.test('replayed requests have retryOf', async (t) => {
  const failed = { status: 503 };
  const { journal, add } = watchedJournal(3, () => failed);
  const source = subscribe(journal, { after: 1 });
  const retryOf = async () => ((await take(source, 1))[0] as EndedRequest).entry.retryOf;
  t.equal(await retryOf(), 'req-00000001');
  t.equal(await retryOf(), 'req-00000002');
  const next = retryOf();
  add();
  t.equal(await next, 'req-00000003');
  const after = retryOf();
  add({ path: '/other' });
  t.equal(await after, undefined);
  await source.return();
});

t.test('the index of failed requests is not larger than the journal', async (t) => {
  const { journal, add } = watchedJournal(10, (at) => ({ status: 404, path: `/${at}` }), 10);
  const source = subscribe(journal, { after: 0 });
  await take(source, 1);
  for (let at = 10; at < 500; at++) add({ status: 404, path: `/${at}` });
  const { failed } = (journal as unknown as { retryIndex: { failed: Map<string, unknown> } }).retryIndex;
  t.equal(failed.size, 10);
  await source.return();
});

t.test('requests that arrive during a replay are not missed', async (t) => {
  const { journal, add } = watchedJournal(100);
  const source = subscribe(journal, { after: 0, capacity: 2 });
  const events = await take(source, 10);
  for (let at = 0; at < 50; at++) add();
  events.push(...(await take(source, 140)));
  t.same(numbers(events), range(1, 150));
  const live = source.next();
  for (let at = 0; at < 5; at++) add();
  t.same(
    numbers([(await live).value as SubscriptionEvent, ...(await take(source, 2))]),
    ['-3', 154, 155],
    'a slow reader misses requests',
  );
  await source.return();
});

t.test('a replay reports requests that are dropped meanwhile, and ends when the journal closes', async (t) => {
  const { journal, add }: WatchedJournal = watchedJournal(20, () => ({}), 20);
  const source = subscribe(journal, { after: 5 });
  const events = await take(source, 15);
  for (let at = 0; at < 30; at++) add();
  events.push(...(await take(source, 2)));
  t.same(numbers(events), [...range(6, 20), '-10', 31]);
  journal.close();
  t.match(await source.next(), { done: true });
});

t.test('without bodies, entries have all other members', async (t) => {
  const { journal } = watchedJournal(1, () => ({ response: '{"a":1}', path: '/a' }));
  const tell = async (bodies: boolean) => {
    const source = subscribe(journal, { after: 0, write: (record) => journal.write(record, { bodies }) });
    const [event] = await take(source, 1);
    await source.return();
    return (event as EndedRequest).entry;
  };
  const [whole, outline] = [await tell(true), await tell(false)];
  t.match(whole.answer, { bytes: 7, body: { text: '{"a":1}' } });
  t.strictSame(outline, { ...whole, answer: { headers: whole.answer.headers, bytes: 7 } });
});

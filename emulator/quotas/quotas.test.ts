import t from 'tap';
import { WorldClock } from '../time/clock.js';
import { type Quota, type QuotaFacts, Quotas } from './quotas.js';
import { refilled, windowOf, withdraw } from './token-bucket.js';

t.test('a bucket fills without rounding, and never beyond its capacity', (t) => {
  const rate = { capacity: 2, tokens: 3, milliseconds: 1000 };
  let bucket = withdraw(rate, refilled(rate, undefined, 0), 2).left;
  for (const [now, wait] of [
    [0, 334],
    [1, 333],
    [333, 1],
  ] as const)
    t.equal(withdraw(rate, refilled(rate, bucket, now), 1).wait, wait, `at ${now}`);
  // Refill the bucket every millisecond. Many small refills must give the same level as a single one, without rounding
  // errors.
  for (let now = 1; now <= 333; now++) bucket = refilled(rate, bucket, now);
  t.equal(withdraw(rate, bucket, 1).wait, 1);
  t.equal(withdraw(rate, refilled(rate, bucket, 334), 1).wait, 0);
  t.equal(withdraw(rate, refilled(rate, bucket, 1e9), 0).remaining, 2);
  t.equal(withdraw(rate, refilled(rate, bucket, 1e9), 3).wait, 334, 'what is missing beyond a full bucket');
  t.equal(refilled(rate, { level: 5, at: 100 }, 50).level, 5, 'a clock that was set back');
  t.equal(windowOf(rate), 1);
  t.equal(windowOf({ capacity: 10, tokens: 1, milliseconds: 10_000 }), 100);
  t.end();
});

const QUOTA: Quota = {
  name: 'gateway',
  by: ['org'],
  capacity: 2,
  tokens: 1,
  milliseconds: 1000,
  cost: [['*', 1]],
  retryAfter: { add: 0, format: 'seconds' },
};

const facts = (given: Partial<QuotaFacts> = {}): QuotaFacts => ({
  org: 'demo',
  token: 'ada',
  key: 'k1',
  repo: 'team/app',
  op: 'getRepository',
  ...given,
});

function quotasWith(...rows: Partial<Quota>[]): Quotas {
  const quotas = new Quotas(new WorldClock(0));
  quotas.change(new Map(rows.map((row, index) => [`q${index}`, { ...QUOTA, name: `q${index}`, ...row }])));
  return quotas;
}

t.test('each partition has its own buckets', (t) => {
  for (const by of ['org', 'token', 'key', 'repo', 'op'] as const) {
    const quotas = quotasWith({ by: [by], capacity: 1 });
    t.notOk(quotas.take(facts()), by);
    t.ok(quotas.take(facts()), `${by}: the second is too many`);
    t.notOk(quotas.take(facts({ [by]: 'another' })), `another ${by}`);
    const others = Object.fromEntries(
      ['org', 'token', 'key', 'repo', 'op'].filter((name) => name !== by).map((name) => [name, 'x']),
    );
    t.ok(quotas.take(facts(others)), `only ${by} counts`);
  }
  t.end();
});

t.test(
  'the cost of an operation id takes precedence over globs, longer globs over shorter ones; other requests are free',
  (t) => {
    const quotas = quotasWith({
      capacity: 10,
      cost: [
        ['commitPack', 5],
        ['git*Pack', 3],
        ['git*', 0],
      ],
    });
    const take = (op: string, times: number) => {
      for (let count = 0; count < times; count++) if (quotas.take(facts({ op }))) return count;
      return times;
    };
    t.equal(take('getRepository', 50), 50);
    t.equal(take('gitInfoRefs', 50), 50);
    t.equal(take('commitPack', 50), 2);
    quotas.restore({ ...quotas.snapshot(), buckets: new Map() });
    t.equal(take('gitUploadPack', 50), 3);
    t.end();
  },
);

t.test('a request that one quota refuses takes tokens from none and gets the longest wait', (t) => {
  const quotas = quotasWith({ capacity: 3 }, { capacity: 1, milliseconds: 7000 }, { capacity: 1, milliseconds: 5000 });
  t.notOk(quotas.take(facts()));
  for (let count = 0; count < 5; count++) t.match(quotas.take(facts()), { wait: 7000, quota: { name: 'q1' } });
  quotas.change(
    new Map([
      ['q1', undefined],
      ['q2', undefined],
    ]),
  );
  t.notOk(quotas.take(facts()));
  t.notOk(quotas.take(facts()));
  t.ok(quotas.take(facts()), 'the first had kept its other two');
  t.end();
});

t.test('a changed quota keeps the levels of its buckets, up to the new capacity', (t) => {
  const quotas = quotasWith({ capacity: 10, tokens: 1, milliseconds: 1000 });
  for (let count = 0; count < 4; count++) quotas.take(facts());
  const change = (row: Partial<Quota>) => quotas.change(new Map([['q0', { ...QUOTA, name: 'q0', ...row }]]));
  change({ capacity: 10, tokens: 5, milliseconds: 60_000 });
  t.equal(quotas.take(facts({ op: 'x' }))?.remaining, undefined);
  change({ capacity: 2, tokens: 5, milliseconds: 60_000 });
  t.notOk(quotas.take(facts()));
  t.notOk(quotas.take(facts()));
  t.match(quotas.take(facts()), { remaining: 0 }, 'no more than it holds');
  change({ by: ['repo'], capacity: 2 });
  t.notOk(quotas.take(facts()), 'what counts by something else begins anew');
  t.end();
});

t.test('the number of buckets is limited, and the least recently used one is evicted', (t) => {
  const quotas = quotasWith({ by: ['repo'], capacity: 1 });
  for (let count = 0; count < 10_001; count++) quotas.take(facts({ repo: String(count) }));
  t.equal(quotas.snapshot().buckets.size, 10_000);
  t.notOk(quotas.take(facts({ repo: '0' })), 'forgotten');
  t.ok(quotas.take(facts({ repo: '10000' })));
  t.end();
});

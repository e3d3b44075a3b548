import t, { type Test } from 'tap';
import type { Expectations } from '../journal/expectations.js';
import { type FaultReport, verify } from '../journal/verify.js';
import { packBody, type Service, startService } from './service.js';

const CLOCK = Date.parse('2026-01-01T00:00:00Z');

async function start(t: Test, options: Parameters<typeof startService>[0] = {}): Promise<Service> {
  const service = await startService({ clock: CLOCK, ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  return service;
}

/** A commit that is throttled once, and sent again after `pause` milliseconds. */
async function commitTwice({ call, emulator, seed }: Service, pause: number): Promise<void> {
  await seed('team/app', { 'a.txt': 'a\n' });
  const options = {
    body: packBody({ 'b.txt': 'b\n' }),
    headers: { 'x-emulator-fault': 'rate_limited*1;retry-after=2' },
  };
  await call('POST', '/api/v1/repos/commit-pack', options);
  await emulator.clock.advance(pause);
  await call('POST', '/api/v1/repos/commit-pack', options);
}

const commitPack = { operation: 'commitPack' } as const;

t.test('how often, never, in which order and how far apart', async (t) => {
  const service = await start(t);
  await commitTwice(service, 2_000);
  for (const requests of [
    [{ match: commitPack, count: 3 }],
    [{ match: commitPack, atLeast: 3 }],
    [{ match: commitPack, atMost: 3 }],
    [{ match: commitPack }],
    [{ match: { operation: 'getRepository' }, never: true }],
    [{ match: { ...commitPack, status: 429 }, count: 1 }],
    [{ match: commitPack, count: 3, minGap: 'PT0.001S' }],
    [
      { match: { ...commitPack, status: 429 }, order: 1 },
      { match: { ...commitPack, status: 201 }, order: 2 },
    ],
    [
      { match: { operation: 'createRepository' }, order: -1 },
      { match: commitPack, order: 0 },
      { match: commitPack, order: 5 },
      { match: commitPack, order: 6 },
    ],
  ] as NonNullable<Expectations['requests']>[]) {
    t.same(service.emulator.verify({ requests }), { met: true, unmet: [], client: [] }, JSON.stringify(requests));
  }
  for (const [requests, found, detail] of [
    [[{ match: commitPack, count: 2 }], 3, /3 requests were found, and 2 are the most/],
    [[{ match: commitPack, atMost: 1 }], 3, /1 are the most/],
    [[{ match: commitPack, never: true }], 3, /0 are the most/],
    [[{ match: commitPack, atLeast: 4 }], 3, /3 of at least 4/],
    [[{ match: { operation: 'getRepository' } }], 0, /0 of at least 1/],
    [[{ match: commitPack, minGap: 'PT3S' }], 3, /began \d+ ms after req-00000002 was answered, and not 3000 ms/],
    [
      [
        { match: { ...commitPack, status: 201 }, order: 2 },
        { match: { ...commitPack, status: 429 }, order: 3 },
        { match: { operation: 'createRepository' }, order: 4 },
      ],
      1,
      /No such request was found behind req-00000003/,
    ],
  ] as [NonNullable<Expectations['requests']>, number, RegExp][]) {
    const { met, unmet } = service.emulator.verify({ requests });
    t.equal(met, false);
    t.equal(unmet.length, 1);
    t.match(unmet[0], { found, detail }, JSON.stringify(requests));
    const at = Number(unmet[0]!.at.split('.')[1]);
    t.same(unmet[0]!.expectation, requests[at], 'the expectation as it was given');
  }
});

t.test('a client that waits is told from one that does not', async (t) => {
  const expectations = {
    requests: [{ match: { ...commitPack, after: 'req-00000002' }, count: 2, minGap: 'retry-after' }],
    client: true,
  } satisfies Expectations;
  const [polite, impolite] = [await start(t), await start(t)];
  await commitTwice(polite, 2_000);
  await commitTwice(impolite, 500);
  const { met, unmet, client } = polite.emulator.verify(expectations);
  t.same([met, unmet], [true, []]);
  t.match(
    client.find(({ rule }) => rule === 'retry-after'),
    { verdict: 'kept', occasions: 1 },
  );
  const judged = impolite.emulator.verify(expectations);
  t.equal(judged.met, false);
  t.match(judged.unmet, [
    {
      at: 'requests.0',
      detail: /501 ms after req-00000003 was answered, and not 2000 ms/,
      nearest: [{ request: { id: 'req-00000003' } }, { request: { id: 'req-00000004' } }],
    },
  ]);
  t.match(
    judged.client.find(({ rule }) => rule === 'retry-after'),
    { verdict: 'broken', faults: [{ request: 'req-00000004', earlier: 'req-00000003' }] },
  );
  const single = await start(t);
  await single.seed('team/app');
  t.match(single.emulator.verify({ requests: [{ match: commitPack, count: 2 }] }), { met: false });
});

t.test('the nearest requests are shown, with what differs', async (t) => {
  const service = await start(t);
  await commitTwice(service, 0);
  const match = { ...commitPack, status: 503, code: 'service_unavailable' };
  const [unmet] = service.emulator.verify({ requests: [{ match }] }).unmet;
  t.match(unmet!.nearest, [
    {
      request: { id: 'req-00000004', operation: 'commitPack', status: 201 },
      differs: [
        { member: 'status', wanted: 503, found: 201 },
        { member: 'code', wanted: 'service_unavailable', found: null },
      ],
    },
    { request: { id: 'req-00000003' }, differs: [{ found: 429 }, { found: 'rate_limited' }] },
    { request: { id: 'req-00000002' } },
  ]);
  const other = service.emulator.verify({ requests: [{ match: { operation: 'grep', repository: 'team/app' } }] });
  t.same(other.unmet[0]!.nearest[0]!.differs, [{ member: 'operation', wanted: 'grep', found: 'commitPack' }]);
  t.same(service.emulator.verify({ requests: [{ match: { operation: 'grep' } }] }).unmet[0]!.nearest, []);
});

t.test('only what came after a request counts, if so asked', async (t) => {
  const service = await start(t);
  await commitTwice(service, 0);
  const { verify: judge } = service.emulator;
  t.equal(judge({ after: 'req-00000003', requests: [{ match: commitPack, count: 1 }] }).met, true);
  t.equal(judge({ after: 'req-00000004', requests: [{ match: commitPack, never: true }] }).met, true);
});

t.test('of requests that were let go of nothing is claimed', async (t) => {
  const service = await start(t, { limits: { maxJournal: 3 } as never });
  await commitTwice(service, 0);
  const { verify: judge } = service.emulator;
  t.match(judge({ requests: [{ match: { operation: 'getRepository' }, never: true }] }), {
    met: false,
    unmet: [{ found: 0, detail: /let go of 1 earlier/ }],
  });
  t.match(judge({ requests: [{ match: { operation: 'createRepository' } }] }), {
    unmet: [{ detail: /0 of at least 1 .*let go of 1 earlier/ }],
  });
  const after = 'req-00000002';
  t.equal(judge({ after, requests: [{ match: { operation: 'getRepository' }, never: true }] }).met, true);
});

t.test('every planned fault has fired, as often as it was to', async (t) => {
  const { journal } = (await start(t)).world.state;
  const faults: FaultReport[] = [
    { id: 'a', text: 'cut', fired: 1 },
    { id: 'b', text: 'lost', fired: 3, expected: 3 },
    { id: 'c', text: 'hold', fired: 0, expected: { max: 2 } },
  ];
  t.equal(verify(journal, { faults: { everyFired: true } }, faults).met, true);
  for (const [fault, detail] of [
    [{ id: 'd', text: 'ng', fired: 0 }, 'The fault ng (d) fired 0 times, and not at least 1.'],
    [{ id: 'd', text: 'ng', fired: 2, expected: 3 }, 'The fault ng (d) fired 2 times, and not 3.'],
    [
      { id: 'd', text: 'ng', fired: 9, expected: { min: 1, max: 2 } },
      'The fault ng (d) fired 9 times, and not 1 to 2.',
    ],
  ] as const) {
    const judged = verify(journal, { faults: { everyFired: true } }, [...faults, fault]);
    t.match(judged, { met: false, unmet: [{ at: 'faults.3', found: fault.fired, detail }] });
    t.equal(judged.unmet.length, 1);
    t.equal(verify(journal, {}, [fault]).met, true, 'only where it is asked for');
  }
});

t.test('what is no expectation is refused by the name of the member', async (t) => {
  const { journal } = (await start(t)).world.state;
  for (const [wrong, sentence] of [
    [[], /^The expectations: /],
    [null, /^The expectations: /],
    [{ request: [] }, /request/],
    [{ requests: {} }, /^requests: /],
    [{ requests: [{}] }, /^requests\.0\.match: /],
    [{ requests: [{ match: {}, counts: 1 }] }, /^requests\.0: .*counts/],
    [{ requests: [{ match: { status: 42 } }] }, /^requests\.0\.match\.status: /],
    [
      { requests: [{ match: { operation: ['grep', 'x'] } }] },
      /^requests\.0\.match\.operation\.1: there is no operation "x"/,
    ],
    [{ requests: [{ match: {}, count: -1 }] }, /^requests\.0\.count: /],
    [{ requests: [{ match: {}, count: 1.5 }] }, /^requests\.0\.count: /],
    [{ requests: [{ match: {}, count: 1, atMost: 2 }] }, /^requests\.0\.count: excludes atLeast and atMost/],
    [{ requests: [{ match: {}, atLeast: 3, atMost: 2 }] }, /^requests\.0\.atLeast: is more than atMost/],
    [{ requests: [{ match: {}, never: false }] }, /^requests\.0\.never: /],
    [{ requests: [{ match: {}, never: true, order: 1 }] }, /^requests\.0\.never: excludes/],
    [
      { requests: [{ match: {}, minGap: '2s' }] },
      /^requests\.0\.minGap: has to be retry-after or an ISO 8601 duration/,
    ],
    [{ requests: [{ match: {}, minGap: 'P' }] }, /^requests\.0\.minGap: /],
    [{ requests: [{ match: {}, minGap: 'PT' }] }, /^requests\.0\.minGap: /],
    [{ faults: { every: true } }, /^faults: .*every/],
    [{ client: ['x'] }, /^client/],
    [{ client: false }, /^client/],
    [{ after: 1 }, /^after: /],
  ] as const) {
    t.throws(() => verify(journal, wrong), { code: 'bad_request', detail: sentence }, JSON.stringify(wrong));
  }
});

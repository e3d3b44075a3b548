import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { LIMITS } from '../config/limits.js';
import { Meter } from '../schedule/meter.js';
import { Schedule, SLICE } from '../schedule/schedule.js';
import { runSync, runYielding, type Steps } from '../schedule/steps.js';
import { gitFacts } from '../smart-http/git-facts.js';
import { MAX_BODY_BYTES } from './captured-body.js';
import { CLIENT_RULE_IDS } from './client-rules/ids.js';
import { Journal } from './journal.js';
import type { RequestRecord } from './record.js';
import { bodyOf, recordOf } from './test/record.js';
import { checkSteps, type Verification, verifySteps } from './verify.js';

const [MAX_ENTRIES] = LIMITS.maxJournal;
/**
 * Maximum cost of one step of a verification, in units of work. The server can run other requests only between two
 * steps. Work without a pause can therefore exceed its limit (`SLICE`) by one step.
 */
const PIECE = 6_000;

t.setTimeout(300_000);

type Given = Partial<RequestRecord>;

/**
 * Creates a journal with `entries` recorded requests. `reads.count` measures work: it counts how often a property of a
 * record is read.
 */
function journalOf(entries: number, make: (at: number) => Given) {
  const journal = new Journal({ entries: MAX_ENTRIES, bytes: LIMITS.maxJournalBytes[0], key: Buffer.from('key') });
  const reads = { count: 0 };
  for (let at = 0; at < entries; at++) {
    const record = recordOf(at + 1, { started: at * 1000, ...make(at) });
    const watched = new Proxy(record, {
      get(target, name) {
        reads.count += 1;
        return Reflect.get(target, name);
      },
    });
    journal.add(watched);
    journal.end(watched, record.outcome === 'open' ? 'complete' : record.outcome);
  }
  reads.count = 0;
  return { journal, reads };
}

const headOf = (...fields: string[]) => ({ fields, weight: 100 });
const packet = (phase: 'advertise' | 'rpc') => gitFacts(phase, 'git-receive-pack', 1);
const read: Given = { operation: 'listBranches', path: '/branches' };
const write: Given = { operation: 'commitPack', method: 'POST', path: '/commit', body: bodyOf('{"a":1}\n') };

/**
 * Sequences of requests that cause the most work for some client rules (checks of client behaviour). Each function
 * returns the properties of the request at index `at`.
 */
const JOURNALS: Readonly<Record<string, (at: number, all: number) => Given>> = {
  'one request that fails again and again': () => ({ ...read, status: 503 }),
  'one that fails half of the time, and is then repeated without failing': (at, all) => ({
    ...read,
    status: at < all / 2 ? 503 : 200,
    response: '{"items":[]}',
  }),
  'one that cannot succeed, between writes to another organization': (at) =>
    at % 2 === 0 ? { ...read, status: 404, code: 'branch_not_found' } : { ...write, organization: 'other' },
  'a push that is sent again and again': () => ({
    operation: 'gitReceivePack',
    method: 'POST',
    path: '/r.git/git-receive-pack',
    git: packet('rpc'),
    body: bodyOf('pack'),
    outcome: 'cut',
  }),
  'pushes, and refs that others look at': (at) =>
    at % 2 === 0
      ? { operation: 'gitReceivePack', method: 'POST', status: 503, git: packet('rpc'), body: bodyOf('pack') }
      : { operation: 'gitInfoRefs', organization: 'other', git: packet('advertise') },
  'a write whose answer is lost again and again': () => ({ ...write, outcome: 'gone' }),
  'one idempotency key for all': (at) => ({
    ...write,
    operation: 'createDeployment',
    head: headOf('Idempotency-Key', 'k'),
    body: bodyOf(`${at}`),
  }),
  'pages of a list': (at) => ({ ...read, query: `cursor=c${at}`, response: `{"next_cursor":"c${at + 1}"}` }),
  'different requests that fail at one target': (at) => ({ ...write, status: 400, body: bodyOf(`{"a":${at % 100}}`) }),
};

/**
 * Runs all steps of a verification. Returns its result, the total cost (`units`), and the cost of the most expensive
 * step (`largest`), in units of work.
 */
function costOf(steps: Steps<Verification>): { units: number; largest: number; verification: Verification } {
  let [units, largest] = [0, 0];
  for (;;) {
    const step = steps.next();
    if (step.done) return { units, largest, verification: step.value };
    units += step.value;
    largest = Math.max(largest, step.value);
  }
}

const EXPECTATIONS = {
  client: true,
  requests: [
    { match: { operation: 'deleteRepository', status: '2xx' }, order: 2 },
    { match: { operation: 'git*' }, atLeast: 0, minGap: 'PT0.001S', order: 1 },
    { match: { path: '/branches', status: [503, 404] }, count: 3 },
    { match: { operation: 'commitPack' }, atLeast: 0, minGap: 'retry-after' },
  ],
};

for (const [name, make] of Object.entries(JOURNALS)) {
  t.test(`the work is linear in the number of requests: ${name}`, async (t) => {
    const measure = (entries: number) => {
      const { journal, reads } = journalOf(entries, (at) => make(at, entries));
      const { units, largest, verification } = costOf(verifySteps(journal, EXPECTATIONS));
      t.ok(largest < 200, `${largest} units in one step`);
      t.equal(verification.client.length, CLIENT_RULE_IDS.length);
      return { units, reads: reads.count };
    };
    const [half, whole] = [measure(MAX_ENTRIES / 2), measure(MAX_ENTRIES)];
    t.ok(half.units > MAX_ENTRIES / 2, `${half.units} units`);
    t.ok(whole.units < 2.2 * half.units, `${half.units} units, then ${whole.units}`);
    t.ok(whole.reads < 2.2 * half.reads, `${half.reads} members read, then ${whole.reads}`);
  });
}

t.test('a full journal is verified in time slices, so that other work can run', { timeout: 300_000 }, async (t) => {
  const bodies = (at: number) => `{"n":${at},"text":"${'x'.repeat(MAX_BODY_BYTES - 100)}"}`;
  const answered = (at: number): Given => ({ ...write, body: bodyOf(bodies(at)), response: bodyOf(bodies(at)) });
  const large: typeof JOURNALS = {
    'large bodies that fail': (at) => ({ ...answered(at), status: 409, outcome: 'cut' }),
    'large pages': (at) => ({ ...read, response: bodyOf(bodies(at)) }),
  };
  const made = [
    ...Object.entries(JOURNALS).map(([name, make]) => ({ name, make, entries: MAX_ENTRIES })),
    ...Object.entries(large).map(([name, make]) => ({ name, make, entries: 600 })),
  ];
  for (const { name, make, entries } of made) {
    const { journal } = journalOf(entries, (at) => make(at, entries));
    const wanted = { ...EXPECTATIONS, requests: Array(5).fill(EXPECTATIONS.requests).flat() };
    const schedule = new Schedule({ now: () => 0 });
    await setImmediate();
    let isOver = false;
    let turns = 0;
    const count = async () => {
      for (; !isOver; turns++) await setImmediate();
    };
    const [verification] = await Promise.all([
      runYielding(verifySteps(journal, wanted), new Meter({ schedule })).finally(() => {
        isOver = true;
      }),
      count(),
    ]);
    await setImmediate();
    t.ok(schedule.longestSlice <= SLICE + PIECE, `${name}: ${schedule.longestSlice} units in a slice`);
    t.ok(schedule.spent > 2 * (SLICE + PIECE), `${name}: ${schedule.spent} units`);
    t.ok(turns >= schedule.spent / (SLICE + PIECE) - 1, `${name}: ${turns} turns of the loop`);
    t.same(verification, runSync(verifySteps(journal, wanted)), `${name}: same result as without slices`);
  }
});

t.test('a verification ignores requests that arrive while it runs, and includes those dropped meanwhile', async (t) => {
  const { journal } = journalOf(MAX_ENTRIES, () => read);
  const steps = verifySteps(journal, { requests: [{ match: { path: '/branches' }, count: MAX_ENTRIES }] });
  t.notOk(steps.next().done);
  for (let at = 0; at < 100; at++) journal.add(recordOf(MAX_ENTRIES + at, read));
  t.equal(journal.dropped, 100);
  t.match(runSync(steps), { met: true, unmet: [] });
  t.match(runSync(verifySteps(journal, { requests: [{ match: { path: '/branches' }, count: MAX_ENTRIES }] })), {
    met: false,
    unmet: [{ detail: /dropped 100/ }],
  });
});

t.test('the nearest requests are those with the fewest differences, later ones first', async (t) => {
  const { journal } = journalOf(400, (at) => ({
    ...read,
    status: at % 100 === 7 ? 404 : 200,
    path: at % 100 === 9 || at === 7 ? '/near' : '/far',
    method: at === 150 ? 'PUT' : 'POST',
  }));
  const match = { status: 404, path: '/near', method: 'GET' };
  const nearest = (wanted: object) =>
    runSync(verifySteps(journal, { requests: [{ match: wanted }] })).unmet[0]!.nearest;
  const shown = (wanted: object) => nearest(wanted).map(({ request, differs }) => [request.id, differs.length]);
  t.same(shown(match), [
    ['req-00000008', 1],
    ['req-00000310', 2],
    ['req-00000308', 2],
  ]);
  t.same(shown({ method: 'PUT', path: '/near', status: 500 })[0], ['req-00000310', 2]);
  t.same(shown({ status: 500 }), [], 'requests that match no condition are not included');
});

t.test('a finding lists the first pauses of a long chain of retries, and all pauses are checked', async (t) => {
  const pauses = (times: number, started: (at: number) => number) => {
    const { journal } = journalOf(times, (at) => ({ ...read, status: 503, started: started(at) }));
    const { client } = runSync(verifySteps(journal, { client: ['back-off'] }));
    return client[0]!;
  };
  const [hasty] = pauses(1_001, (at) => at * 10).faults;
  t.match(hasty!.detail, /^The request was repeated 1000 times with pauses of (?:10, ){20}… ms\.$/);
  t.match(pauses(1_001, (at) => at * 500).faults[0]!.detail, /each pause should be longer than the one before\.$/);
  const growing = pauses(1_001, (at) => at * 500 + (at > 900 ? 100_000 : 0));
  t.match(growing, { verdict: 'kept', occasions: 1 }, 'pauses may begin to grow late');
});

t.test('requests up to `after` are not checked, but their cursors are known', async (t) => {
  const { journal } = journalOf(4, (at) =>
    at < 2
      ? { ...read, query: at === 0 ? 'cursor=made-up' : '', response: '{"next_cursor":"given"}' }
      : { ...read, query: at === 2 ? 'cursor=given' : 'cursor=other', response: '{"next_cursor":null}' },
  );
  const verdict = (after?: string) =>
    runSync(verifySteps(journal, { client: ['cursor-verbatim'], ...(after && { after }) })).client[0]!;
  t.match(verdict(), { occasions: 3, faults: [{ request: 'req-00000001' }, { request: 'req-00000004' }] });
  t.match(verdict('req-00000002'), { occasions: 2, faults: [{ request: 'req-00000004' }] });
  t.match(verdict('req-00000004'), { verdict: 'unseen', occasions: 0, faults: [] });
});

t.test('each client has its own verdict, by the subject of its token', async (t) => {
  const tokenOf = (subject: string) => ({ scheme: 'bearer', digest: subject, verified: true, subject }) as const;
  const clients = ['ada', 'bob', 'ada', undefined];
  const { journal } = journalOf(150, (at) => {
    const subject = at < clients.length ? clients[at] : `client ${at}`;
    return {
      ...read,
      query: `cursor=${at === 1 ? '' : at}`,
      response: '{"next_cursor":null}',
      ...(subject !== undefined && { token: tokenOf(subject) }),
    };
  });
  const [verdict] = runSync(verifySteps(journal, { client: ['cursor-verbatim'] })).client;
  t.match(verdict, { verdict: 'broken', occasions: 149, faults: { length: 20, 0: { subject: 'ada' } } });
  t.same(verdict!.clients.slice(0, 2), [
    { subject: 'ada', verdict: 'broken', occasions: 2, broken: 2 },
    { subject: null, verdict: 'broken', occasions: 1, broken: 1 },
  ]);
  t.equal(verdict!.clients.length, 100, 'clients that are counted separately');
});

t.test('a deeply nested response is searched for cursors', async (t) => {
  const response = `${'['.repeat(30_000)}{"cursor":"deep"}${']'.repeat(30_000)}`;
  const { journal } = journalOf(2, (at) => ({ ...read, query: at ? 'cursor=deep' : '', response: bodyOf(response) }));
  t.match(runSync(verifySteps(journal, { client: ['cursor-verbatim'] })).client, [{ verdict: 'kept' }]);
});

t.test('lists that are too long are refused with the name of the member, and not read completely', async (t) => {
  const { journal } = journalOf(1, () => read);
  let looks = 0;
  const long = new Proxy(Array(300_000).fill(1), {
    get(target, name) {
      looks += 1;
      return Reflect.get(target, name);
    },
  });
  for (const [expectations, detail] of [
    [{ requests: long }, /^requests: /],
    [{ client: long }, /^client/],
    [{ requests: [{ match: {} }, { match: { code: long } }] }, /^requests\.1\.match\.code/],
    [{ requests: [{ match: {} }, { match: { status: 7 } }] }, /^requests\.1\.match\.status/],
    [{ requests: [{ match: {} }, 7] }, /^requests\.1: /],
  ] as const) {
    t.throws(() => runSync(verifySteps(journal, expectations)), { code: 'bad_request', detail }, `${detail}`);
    t.ok(looks < 10_000, `${looks} reads of the list`);
  }
});

t.test('every expectation has its words and its result so far', async (t) => {
  const { journal } = journalOf(6, (at) => ({ ...read, status: at < 4 ? 503 : 200 }));
  const faults = [
    { id: 'f1', text: 'busy*2', fired: 1, expected: 2 },
    { id: 'f2', text: 'cut', fired: 3 },
  ];
  const expectations = {
    requests: [
      { match: { status: 200 }, order: 3 },
      { match: { status: '5xx' }, atLeast: 2, order: 1 },
      { match: { status: 404 }, order: 2 },
      { match: { status: 200 }, never: true },
    ],
    client: ['cursor-verbatim'],
  };
  const check = (given: object) => runSync(checkSteps(journal, given, faults)).checked;
  t.same(
    check(expectations).map(({ at, met, found, detail }) => [at, met, found, detail]),
    [
      ['requests.0', false, 2, 'Place 2 of the sequence comes first.'],
      ['requests.1', true, 4, undefined],
      ['requests.2', false, 0, 'Expected a matching request after req-00000001 (order 2), found none.'],
      ['requests.3', false, 2, undefined],
      ['faults.f1', false, 1, undefined],
      ['client.cursor-verbatim', true, 0, undefined],
    ],
  );
  const [first, , , , fault, rule] = check({ ...expectations, faults: { everyFired: true } });
  t.equal(first!.text, 'a request with status 200, at place 3 of the sequence');
  t.equal(fault!.text, 'the fault f1 fires exactly 2 times');
  t.match(rule, { at: 'faults.f2', text: 'the fault f2 fires at least once', met: true, found: 3 });
  t.same(
    check({}).map(({ at }) => at),
    ['faults.f1'],
  );
});

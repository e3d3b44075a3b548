import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { gitFacts } from '../../smart-http/git-facts.js';
import { Journal } from '../journal.js';
import type { RequestRecord } from '../record.js';
import { bodyOf, recordOf } from '../test/record.js';
import { verifySteps } from '../verify.js';
import type { ClientRuleId } from './ids.js';

interface Given extends Partial<RequestRecord> {
  /** Times in milliseconds. `from` is the start of the request, and `to` is the end of the response. */
  readonly from: number;
  readonly to: number;
  /** Time in milliseconds at which the emulator decided on the response. Without it, the end of the response (`to`). */
  readonly decided?: number;
}

/**
 * Creates a journal with these requests. A journal is the list of recorded requests. Ids are numbered by start time.
 */
function journalOf(given: readonly Given[]): Journal {
  const journal = new Journal({ entries: 100, bytes: 1e6, key: Buffer.from('key') });
  const records = given.map(({ from, to, decided = to, ...rest }) =>
    recordOf([...given].filter((other) => other.from < from).length + 1, {
      started: from,
      micros: (to - from) * 1000,
      time: decided,
      took: decided - from,
      sendTime: to - decided,
      ...rest,
    }),
  );
  for (const record of records.toSorted((a, b) => a.time - b.time)) journal.add(record);
  for (const record of records.toSorted((a, b) => a.started + a.micros / 1000 - b.started - b.micros / 1000)) {
    journal.end(record, record.outcome === 'open' ? 'complete' : record.outcome);
  }
  return journal;
}

function verdictOf(rule: ClientRuleId, given: readonly Given[]) {
  const [verdict] = runSync(verifySteps(journalOf(given), { client: [rule] })).client;
  return verdict!;
}

const limited = { status: 429, responseHeaders: { 'retry-after': '1' } };
const write = { operation: 'commitPack', method: 'POST', path: '/commit', body: bodyOf('{"a":1}') } as const;
const push = {
  operation: 'gitReceivePack',
  method: 'POST',
  git: gitFacts('rpc', 'git-receive-pack', 1),
  body: bodyOf('pack'),
} as const;
const refRead = {
  operation: 'gitInfoRefs',
  path: '/info/refs',
  git: gitFacts('advertise', 'git-receive-pack', 1),
} as const;
const page = { operation: 'listBranches', path: '/branches' } as const;
const keyed = (body: string) => ({
  ...write,
  head: { fields: ['Idempotency-Key', 'k'], weight: 0 },
  body: bodyOf(body),
});

t.test('a request that began before a response ended is not a reaction to it', async (t) => {
  const rows: readonly (readonly [name: string, rule: ClientRuleId, requests: readonly Given[]])[] = [
    [
      'concurrent requests, one of which gets Retry-After',
      'retry-after',
      [
        { from: 0, to: 100, ...limited },
        { from: 50, to: 101, ...limited },
      ],
    ],
    [
      'a request sent while the response was being sent',
      'retry-after',
      [
        { from: 0, to: 500, decided: 10, ...limited },
        { from: 400, to: 401 },
      ],
    ],
    [
      'a request sent just before the client could read the response',
      'retry-after',
      [
        { from: 0, to: 10, ...limited },
        { from: 10.05, to: 11 },
      ],
    ],
    [
      'equal concurrent requests that fail repeatedly',
      'back-off',
      [0, 1, 2, 3].map((from) => ({ from, to: 50 + from, status: 503 })),
    ],
    [
      'equal concurrent requests that are both refused',
      'hopeless-retry',
      [
        { from: 0, to: 100, status: 404 },
        { from: 50, to: 101, status: 404 },
      ],
    ],
    [
      'equal concurrent requests that are both refused with an unknown code',
      'unknown-code',
      [
        { from: 0, to: 100, status: 409, code: 'frozen' },
        { from: 50, to: 101, status: 409, code: 'frozen' },
      ],
    ],
    [
      'equal concurrent writes, one of which loses its response',
      'expected-head',
      [
        { from: 0, to: 100, ...write, outcome: 'cut' },
        { from: 50, to: 101, ...write },
      ],
    ],
    [
      'concurrent pushes',
      'git-retry',
      [
        { from: 0, to: 100, ...push, status: 503 },
        { from: 50, to: 101, ...push },
      ],
    ],
  ];
  for (const [name, rule, requests] of rows) {
    t.match(verdictOf(rule, requests), { verdict: 'unseen', occasions: 0, faults: [] }, name);
    const behind = requests.map(({ from, to, decided = to, ...rest }, at) => {
      const shift = at * 1000;
      return { ...rest, from: from + shift, to: to + shift, decided: decided + shift };
    });
    t.not(verdictOf(rule, behind).occasions, 0, `${name}: sequential requests are an occasion`);
  }
});

t.test('a pause lasts from the end of a response to the start of the next request', async (t) => {
  const rows = [
    [
      'kept',
      [
        { from: 0, to: 500, decided: 10, ...limited },
        { from: 1_500, to: 1_501 },
      ],
    ],
    [
      'broken',
      [
        { from: 0, to: 500, decided: 10, ...limited },
        { from: 1_400, to: 3_000 },
      ],
    ],
    [
      'broken',
      [
        { from: 0, to: 500, ...limited },
        { from: 500.5, to: 3_000 },
      ],
    ],
  ] as const;
  for (const [verdict, requests] of rows) t.equal(verdictOf('retry-after', requests).verdict, verdict);
  t.match(verdictOf('retry-after', rows[1][1]).faults, [{ detail: /^The request was sent 900 ms after/ }]);
});

t.test('the request that began first counts as the earlier one, whichever response came first', async (t) => {
  const keys = [
    { from: 0, to: 100, ...keyed('a') },
    { from: 50, to: 60, ...keyed('b') },
  ];
  t.match(verdictOf('idempotency-key', keys).faults, [{ request: 'req-00000002', earlier: 'req-00000001' }]);
});

t.test('reading the refs counts only after the push has ended', async (t) => {
  const pushes = [
    { from: 0, to: 100, ...push, status: 503 },
    { from: 300, to: 301, ...push },
  ];
  t.equal(
    verdictOf('git-retry', [...pushes, { from: 10, to: 150, ...refRead }]).verdict,
    'broken',
    'the refs were read while the push ran',
  );
  t.equal(verdictOf('git-retry', [...pushes, { from: 200, to: 201, ...refRead }]).verdict, 'kept');
});

t.test('a cursor is known only after the response that contains it has ended', async (t) => {
  const first = { from: 0, to: 200, ...page, response: '{"next_cursor":"c"}' };
  const second = (from: number) => ({ from, to: from + 300, ...page, query: 'cursor=c', response: '{}' });
  t.equal(verdictOf('cursor-verbatim', [first, second(100)]).verdict, 'broken', 'the cursor was not known yet');
  t.equal(verdictOf('cursor-verbatim', [first, second(201)]).verdict, 'kept');
  const again = { ...first, from: 50, to: 90 };
  t.equal(
    verdictOf('cursor-verbatim', [first, again, second(100)]).verdict,
    'kept',
    'another response contained the cursor earlier',
  );
});

t.test('a request refused with a conflict may be repeated after the state is read again', async (t) => {
  const conflict = { ...write, status: 409, code: 'conflict' };
  const pair = [
    { from: 0, to: 100, ...conflict },
    { from: 300, to: 301, ...conflict },
  ];
  const read = { from: 200, to: 201, path: '/branch' };
  const other = { from: 200, to: 201, ...write, body: bodyOf('{"b":1}') };
  const late = { subject: 'other', scheme: 'bearer', digest: 'd', verified: true } as const;
  const rows: readonly (readonly ['kept' | 'broken', readonly Given[]])[] = [
    ['broken', []],
    ['kept', [read]],
    ['broken', [{ ...read, status: 404 }]],
    ['broken', [{ ...read, from: 50 }]],
    ['broken', [{ ...read, token: late }]],
    ['kept', [{ ...other, token: late }]],
    ['broken', [{ ...other, status: 409 }]],
  ];
  for (const [verdict, between] of rows) {
    t.equal(verdictOf('hopeless-retry', [...pair, ...between]).verdict, verdict, JSON.stringify(between));
  }
  const refused = pair.map((each) => ({ ...each, status: 403, code: 'forbidden' }));
  t.equal(
    verdictOf('hopeless-retry', [...refused, read]).verdict,
    'broken',
    'reading the state does not change permissions',
  );
  for (const code of ['repository_thawing', 'sync_in_progress', 'github_repository_inaccessible']) {
    const passing = pair.map((each) => ({ ...each, code }));
    t.equal(verdictOf('hopeless-retry', passing).verdict, 'unseen', `${code} is temporary`);
  }
});

t.test('a minimum pause applies to consecutive requests', async (t) => {
  const gap = (minGap: string, given: readonly Given[]) =>
    runSync(verifySteps(journalOf(given), { requests: [{ match: {}, minGap }] })).unmet.map(({ detail }) => detail);
  t.same(
    gap('PT0.1S', [
      { from: 0, to: 10 },
      { from: 110, to: 120 },
    ]),
    [],
  );
  t.match(
    gap('PT0.1S', [
      { from: 0, to: 100 },
      { from: 60, to: 70 },
    ]),
    [
      /^The request req-00000002 began 40 ms before the end of the response to req-00000001, but should begin at least 100 ms after it\.$/,
    ],
  );
  t.same(
    gap('retry-after', [
      { from: 0, to: 100, ...limited },
      { from: 60, to: 70 },
    ]),
    [],
    'the client had not read Retry-After yet',
  );
  t.match(
    gap('retry-after', [
      { from: 0, to: 100, ...limited },
      { from: 60, to: 70 },
      { from: 300, to: 301 },
    ]),
    [
      /^The request req-00000003 began 200 ms after the end of the response to req-00000001, but should begin at least 1000 ms after it\.$/,
    ],
  );
});

t.test('a finding about a repeated request has the status, and the code if there is one', async (t) => {
  for (const [code, words] of [
    ['conflict', '409 conflict, although'],
    [undefined, '409, although'],
  ] as const) {
    const refused = { ...write, status: 409, ...(code && { code }) };
    const { faults } = verdictOf('hopeless-retry', [
      { from: 0, to: 10, ...refused },
      { from: 20, to: 30, ...refused },
    ]);
    t.match(faults[0]?.detail, words);
  }
});

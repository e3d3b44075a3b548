import t from 'tap';
import { linearHistory } from '../../git/test/history.js';
import { Workbench } from '../../git/test/workbench.js';
import { CLIENT_RULES } from '../../journal/client-rules/evaluate.js';
import { CLIENT_RULE_IDS, type ClientRuleId } from '../../journal/client-rules/ids.js';
import type { RequestRecord } from '../../journal/record.js';
import { type CallOptions, packBody, type Service, type ServiceResponse, startService } from '../service.js';

const CLOCK = Date.parse('2026-01-01T00:00:00Z');
const REPO = 'team/app';
const BRANCHES = '/api/v1/repos/branches';

/** Client of one test case. It has its own service, and advances the service's clock instead of waiting. */
interface Client {
  readonly service: Service;
  call(method: string, target: string, options?: CallOptions): Promise<ServiceResponse>;
  wait(milliseconds: number): void;
  /** Changes the record of the last request, as if a fault (injected failure) had changed its response. */
  touch(change: Partial<RequestRecord>): void;
}

type ClientCase = (client: Client) => Promise<unknown>;

const fault = (text: string) => ({ 'x-emulator-fault': text });
const LOST = { outcome: 'cut' } as const;
const STALE = 'a'.repeat(40);

/** Sends a request that the service refuses with 409. Repeats it after a minute of simulated time. */
async function twice({ wait }: Client, send: () => Promise<ServiceResponse>) {
  t.equal((await send()).status, 409);
  wait(60_000);
  t.equal((await send()).status, 409);
}

/** Sends a GET request to `target`, and repeats it after each pause. Pauses are milliseconds of simulated time. */
async function repeat({ call, wait }: Client, target: string, pauses: readonly number[], options: CallOptions = {}) {
  await call('GET', target, options);
  for (const pause of pauses) {
    wait(pause);
    await call('GET', target, options);
  }
}

const commit = ({ call }: Client, metadata: Record<string, unknown> = {}) =>
  call('POST', '/api/v1/repos/commit-pack', { body: packBody({ 'b.txt': 'b\n' }, metadata) });

const deploy = ({ call }: Client, key: string, json: unknown) =>
  call('POST', `/api/repos/${encodeURIComponent(REPO)}/deployments`, {
    json,
    headers: { 'idempotency-key': key },
    scopes: ['deployment:write'],
  });

/** Pushes, calls `touch`, and pushes again. If `looksAgain`, it lists the refs before the second push, as git does. */
async function push({ service, call }: Client, looksAgain: boolean, touch: () => void): Promise<void> {
  await using bench = await Workbench.create();
  await bench.import('work', linearHistory(2));
  const tip = await bench.git('work', 'rev-parse', 'main');
  const line = `${'0'.repeat(40)} ${tip} refs/heads/new\0report-status`;
  const pack = await bench.run('work', 'git', ['pack-objects', '--stdout', '--revs', '-q'], 'main\n');
  const text = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`;
  const body = Buffer.concat([Buffer.from(text, 'latin1'), Buffer.from(pack.stdout, 'latin1')]);
  const headers = { 'content-type': 'application/x-git-receive-pack-request' };
  const path = `/${REPO}.git`;
  const look = () => call('GET', `${path}/info/refs?service=git-receive-pack`);
  await look();
  await call('POST', `${path}/git-receive-pack`, { body, headers });
  touch();
  if (looksAgain) await look();
  await call('POST', `${path}/git-receive-pack`, { body, headers });
  t.ok(service.emulator.requests({ git: { command: 'push' } }).length === 2);
}

async function readPages({ call }: Client, change: (cursor: string) => string): Promise<void> {
  const first = await call('GET', '/api/repos?limit=1');
  const cursor = change(first.json.next_cursor);
  await call('GET', `/api/repos?limit=1&cursor=${encodeURIComponent(cursor)}`);
}

/** Test cases for each rule that clients must obey: clients that keep the rule, and clients that break it. */
const CASES: {
  readonly [Rule in ClientRuleId]: { readonly kept: readonly ClientCase[]; readonly broken: readonly ClientCase[] };
} = {
  'retry-after': {
    kept: [
      (client) => repeat(client, BRANCHES, [2_000], { headers: fault('rate_limited*1;retry-after=2') }),
      (client) => repeat(client, BRANCHES, [3_000], { headers: fault('repository_thawing*1;retry-after=3') }),
      (client) =>
        repeat(client, '/api/v1/repos/files/metadata', [1_000], {
          headers: fault('repository_thawing*1;retry-after=1'),
        }),
      async (client) => {
        await client.call('GET', BRANCHES, { headers: fault('rate_limited*1;retry-after=1') });
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await client.call('GET', BRANCHES, { headers: fault('rate_limited*1;retry-after=1') });
      },
    ],
    broken: [
      (client) => repeat(client, BRANCHES, [1_900], { headers: fault('rate_limited*1;retry-after=2') }),
      (client) => repeat(client, BRANCHES, [0], { headers: fault('repository_thawing*1;retry-after=3') }),
      (client) =>
        repeat(client, '/api/v1/repos/files/metadata', [500], { headers: fault('repository_thawing*1;retry-after=1') }),
    ],
  },
  'back-off': {
    kept: [
      (client) => {
        client.service.emulator.state.change({ organizations: { demo: { authentication: 'unavailable' } } });
        return repeat(client, BRANCHES, [100, 200, 400, 800]);
      },
    ],
    broken: [
      (client) => {
        client.service.emulator.state.change({ organizations: { demo: { authentication: 'unavailable' } } });
        return repeat(client, BRANCHES, [0, 0]);
      },
      (client) => {
        client.service.emulator.state.change({ organizations: { demo: { authentication: 'unavailable' } } });
        return repeat(client, BRANCHES, [500, 500, 500]);
      },
    ],
  },
  'hopeless-retry': {
    kept: [
      async (client) => {
        await client.call('GET', '/api/v1/repos/file?path=b.txt');
        await commit(client);
        await client.call('GET', '/api/v1/repos/file?path=b.txt');
      },
      async (client) => {
        await client.call('GET', BRANCHES, { scopes: ['org:read'] });
        await client.call('GET', BRANCHES, { scopes: ['git:read'] });
        const { state } = client.service.emulator;
        state.change({ organizations: { demo: { hosting: 'off' } } });
        await deploy(client, 'a', { ref: 'main' });
        state.change({ organizations: { demo: { hosting: 'on' } } });
        await deploy(client, 'a', { ref: 'main' });
      },
      async (client) => {
        await commit(client, { expected_head_sha: STALE });
        await client.call('GET', '/api/v1/repos/commit?sha=main');
        await commit(client, { expected_head_sha: STALE });
      },
      async (client) => {
        await commit(client, { expected_head_sha: STALE });
        await commit(client, { commit_message: 'another' });
        await commit(client, { expected_head_sha: STALE });
      },
      async (client) => {
        await client.call('POST', '/api/repos');
        await client.call('GET', '/api/v1/repo');
        await client.call('POST', '/api/repos');
      },
    ],
    broken: [
      (client) => twice(client, () => commit(client, { expected_head_sha: STALE })),
      (client) => twice(client, () => client.call('POST', '/api/repos')),
      async (client) => {
        const { sha } = (await client.call('GET', '/api/v1/repos/commit?sha=main')).json.commit;
        const add = () => client.call('POST', '/api/v1/repos/notes', { json: { sha, note: 'n' } });
        await add();
        await twice(client, add);
      },
      async (client) => {
        const { sha } = (await client.call('GET', '/api/v1/repos/commit?sha=main')).json.commit;
        const restore = {
          metadata: { target_branch: 'main', target_commit_sha: sha, author: { name: 'A', email: 'a@b.c' } },
        };
        await twice(client, () => client.call('POST', '/api/v1/repos/restore-commit', { json: restore }));
      },
      (client) => repeat(client, '/api/v1/repos/file?path=no.txt', [60_000]),
      (client) => repeat(client, '/api/v1/repos/file', [60_000]),
      (client) => repeat(client, BRANCHES, [60_000], { scopes: ['org:read'] }),
      (client) => repeat(client, BRANCHES, [60_000], { token: null }),
      (client) => repeat(client, BRANCHES, [60_000], { token: 'nonsense' }),
      async (client) => {
        await client.call('GET', '/api/v1/repos/files/metadata', { headers: fault('rate_limited') });
        client.touch({ responseHeaders: {}, response: '{"error":"Too many commits."}', origin: 'real', faults: [] });
        client.wait(60_000);
        await client.call('GET', '/api/v1/repos/files/metadata', { headers: fault('rate_limited') });
        client.touch({ responseHeaders: {}, response: '{"error":"Too many commits."}', origin: 'real', faults: [] });
      },
    ],
  },
  'unknown-code': {
    kept: [
      async (client) => {
        await client.call('GET', '/api/v1/repos/file?path=no.txt');
        client.touch({ response: '{"code":"file_frozen"}', origin: 'injected:f' });
        await commit(client);
        await client.call('GET', '/api/v1/repos/file?path=no.txt');
      },
    ],
    broken: [
      async (client) => {
        await client.call('GET', '/api/v1/repos/file?path=no.txt');
        client.touch({ response: '{"code":"file_frozen"}', origin: 'injected:f' });
        await client.call('GET', '/api/v1/repos/file?path=no.txt');
      },
      async (client) => {
        await client.call('GET', BRANCHES);
        client.touch({ status: 409, response: '{"code":"branch_frozen"}', origin: 'injected:f' });
        await client.call('GET', BRANCHES);
      },
    ],
  },
  'cursor-verbatim': {
    kept: [(client) => readPages(client, (cursor) => cursor)],
    broken: [
      (client) => readPages(client, (cursor) => `${cursor}x`),
      (client) => readPages(client, (cursor) => cursor.toLowerCase()),
      (client) => readPages(client, () => '2'),
    ],
  },
  'expected-head': {
    kept: [
      async (client) => {
        const expected_head_sha = (await client.call('GET', '/api/v1/repos/commit?sha=main')).json.commit.sha;
        await commit(client, { expected_head_sha });
        client.touch(LOST);
        await commit(client, { expected_head_sha });
      },
      async (client) => {
        await commit(client, { commit_message: 'one' });
        await commit(client, { commit_message: 'two' });
        await client.call('GET', BRANCHES);
        client.touch(LOST);
        await commit(client, { commit_message: 'lost' });
        client.touch({ ...LOST, status: 500 });
        const { sha } = (await client.call('GET', '/api/v1/repos/commit?sha=main')).json.commit;
        await commit(client, { commit_message: 'lost', expected_head_sha: sha });
      },
    ],
    broken: [
      async (client) => {
        await commit(client);
        client.touch(LOST);
        await commit(client);
      },
      async (client) => {
        await commit(client);
        client.touch({ status: 504 });
        await commit(client);
      },
      async (client) => {
        await commit(client);
        client.touch(LOST);
        // Commit on top of the commit whose response was lost. The client wrongly takes it for another client's commit.
        const { sha } = (await client.call('GET', '/api/v1/repos/commit?sha=main')).json.commit;
        await commit(client, { expected_head_sha: sha });
      },
    ],
  },
  'idempotency-key': {
    kept: [
      async (client) => {
        await deploy(client, 'a', { ref: 'main' });
        await deploy(client, 'a', { ref: 'main' });
        await deploy(client, 'b', { ref: 'main', target: 'production' });
        await deploy(client, 'a', { ref: 'main' });
      },
    ],
    broken: [
      async (client) => {
        await deploy(client, 'a', { ref: 'main' });
        await deploy(client, 'a', { ref: 'main', target: 'production' });
      },
    ],
  },
  'expired-token': {
    kept: [
      async (client) => {
        const token = await client.service.token({ repo: REPO, ttl: 60 });
        client.wait(58_000);
        await client.call('GET', BRANCHES, { token });
      },
    ],
    broken: [
      async (client) => {
        const token = await client.service.token({ repo: REPO, ttl: 60 });
        client.wait(60_000);
        await client.call('GET', BRANCHES, { token });
      },
    ],
  },
  'secret-in-url': {
    kept: [(client) => client.call('GET', `${BRANCHES}?limit=1`)],
    broken: [
      async (client) => client.call('GET', `${BRANCHES}?access_token=${await client.service.token({ repo: REPO })}`),
      async (client) => client.call('GET', `/x/${await client.service.token({ repo: REPO })}/y`),
      (client) => client.call('GET', '/api/v1/repos/file?path=https%3A%2F%2Fu%3Apassword%40host'),
    ],
  },
  'git-retry': {
    kept: [
      (client) => push(client, true, () => client.touch(LOST)),
      (client) => push(client, true, () => client.touch({ status: 503 })),
    ],
    broken: [
      (client) => push(client, false, () => client.touch(LOST)),
      (client) => push(client, false, () => client.touch({ status: 503 })),
    ],
  },
};

/** Runs a test case with its own service. Returns for each client rule whether the client obeyed or broke it. */
async function check(clientCase: ClientCase) {
  const service = await startService({ clock: CLOCK });
  try {
    await service.seed(REPO, { 'a.txt': 'a\n' });
    await service.seed('team/other', { 'a.txt': 'a\n' });
    await service.call('PATCH', `/api/repos/${encodeURIComponent(REPO)}`, {
      json: { deployment: {} },
      scopes: ['repo:write', 'deployment:write'],
    });
    const after = service.emulator.requests().at(-1)!.id;
    await clientCase({
      service,
      call: service.call,
      wait: (milliseconds) => service.emulator.clock.advance(milliseconds),
      touch: (change) => {
        const record = [...service.world.state.journal.records()].at(-1)!;
        for (const [name, value] of Object.entries(change)) Object.defineProperty(record, name, { value });
      },
    });
    return service.emulator.verify({ after, client: true });
  } finally {
    await service.emulator.close({ graceMs: 0 });
  }
}

for (const rule of CLIENT_RULE_IDS) {
  t.test(`${rule}: clients that keep it, and clients that break it`, async (t) => {
    const { kept, broken } = CASES[rule];
    t.ok(kept.length > 0 && broken.length > 0);
    for (const [index, clientCase] of kept.entries()) {
      const { client } = await check(clientCase);
      const verdicts = client.map(({ rule, verdict, faults }) => ({ rule, verdict, faults }));
      t.match(
        verdicts.find((verdict) => verdict.rule === rule),
        { verdict: 'kept', faults: [] },
        `kept ${index}`,
      );
      t.same(
        verdicts.filter(({ verdict }) => verdict === 'broken'),
        [],
        `kept ${index}: no other rule is broken`,
      );
    }
    for (const [index, clientCase] of broken.entries()) {
      const { met, client } = await check(clientCase);
      const verdict = client.find((verdict) => verdict.rule === rule)!;
      t.match(verdict, { verdict: 'broken', faults: [{ request: /^req-/, detail: /\.$/ }] }, `broken ${index}`);
      t.equal(met, verdict.level === 'should' ? met : false);
    }
  });
}

t.test('concurrent requests are not retries of each other', async (t) => {
  const service = await startService({ clock: CLOCK });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed(REPO, { 'a.txt': 'a\n' });
  const send = (spec: string) => service.call('GET', BRANCHES, { headers: fault(spec) });
  const held = ['rate_limited;retry-after=9', 'conflict', 'rate_limited;retry-after=9'];
  const sent = held.map((refusal) => send(`hold@auth;latch=door,${refusal}`));
  const { latches } = service.world.background;
  while (latches.waiting().get('door') !== sent.length) await new Promise((resolve) => setTimeout(resolve, 5));
  service.emulator.release('door');
  t.strictSame(
    (await Promise.all(sent)).map(({ status }) => status),
    [429, 409, 429],
  );
  t.strictSame(
    service.emulator.requests({ path: BRANCHES }).map(({ retryOf }) => retryOf),
    [undefined, undefined, undefined],
  );
  t.match(service.emulator.verify({ client: true }), { met: true });
  await send('rate_limited;retry-after=9');
  t.match(service.emulator.verify({ client: true }), { met: false }, 'the next request is sent too early');
});

t.test('each rule has a unique id, a title and a source', async (t) => {
  t.same(CLIENT_RULES.map(({ id }) => id).sort(), [...CLIENT_RULE_IDS].sort());
  for (const { id, title, source } of CLIENT_RULES) t.ok(title.length > 20 && source.length > 10, id);
});

t.test('a rule without an occasion is unseen, and rules can be selected by id', async (t) => {
  const service = await startService({ clock: CLOCK });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const { met, client } = service.emulator.verify({ client: ['git-retry', 'back-off'] });
  t.equal(met, true);
  t.match(client, [
    { rule: 'back-off', verdict: 'unseen', occasions: 0, level: 'should' },
    { rule: 'git-retry', verdict: 'unseen', occasions: 0, level: 'must' },
  ]);
  t.equal(client.length, 2);
  t.throws(() => service.emulator.verify({ client: ['nothing'] as never }), /client/);
});

import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { linearHistory } from '../../git/test/history.js';
import { Workbench } from '../../git/test/workbench.js';
import { parseQuery } from '../../http/request-target.js';
import { toHar, toNdjson } from '../../journal/export.js';
import { type RequestQuery, readQueryParameters } from '../../journal/query.js';
import { type EndedRequest, type MissedRequests, subscribe } from '../../journal/subscription.js';
import { packBody, type Service, startService } from '../service.js';

const CLOCK = Date.parse('2026-01-01T00:00:00Z');

async function start(t: Test, options: Parameters<typeof startService>[0] = { clock: CLOCK }): Promise<Service> {
  const service = await startService(options);
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  return service;
}

const last = ({ emulator }: Service) => emulator.requests().at(-1)!;

t.test('an entry has headers, bodies, sizes, times and the token, and no secret', async (t) => {
  const service = await start(t);
  await service.seed('team/app', { 'a.txt': 'a\n' });
  const json = { query: { pattern: 'a' }, ref: 'main' };
  const response = await service.call('POST', '/api/v1/repos/grep?x=1', { json, headers: { 'x-trace': 'seven' } });
  const entry = last(service);
  t.match(entry, {
    id: response.headers['x-request-id'],
    began: '2026-01-01T00:00:00.003Z',
    at: '2026-01-01T00:00:00.003Z',
    organization: 'demo',
    method: 'POST',
    path: '/api/v1/repos/grep',
    query: 'x=1',
    operation: 'grep',
    repository: 'team/app',
    subject: /./,
    status: 200,
    origin: 'real',
    faults: [],
    outcome: 'complete',
    httpVersion: '1.1',
    token: {
      scheme: 'bearer',
      verified: true,
      repository: 'team/app',
      digest: /^[\w-]{16}$/,
      expires: /^2026|^2027/,
      header: { alg: /^ES|^RS/ },
      claims: { iss: 'demo', repo: 'team/app', scopes: Array, exp: Number },
    },
    request: { bytes: JSON.stringify(json).length, body: { text: JSON.stringify(json), truncated: false } },
    answer: { bytes: response.bytes.length, body: { text: response.text, encoding: 'utf8', truncated: false } },
  });
  t.ok(entry.duration > 0);
  t.ok(entry.started > service.emulator.requests().at(-2)!.started, 'real time passes while the clock ticks');
  t.ok(entry.started + entry.duration <= performance.now(), 'since the process was started');
  const sent = Object.fromEntries(entry.request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  t.match(sent, { 'x-trace': 'seven', authorization: '[redacted]', 'content-type': 'application/json' });
  const { connection, 'keep-alive': _, 'transfer-encoding': __, ...shown } = response.headers;
  t.same(Object.fromEntries(entry.answer.headers), shown, 'header fields of the response');
});

t.test('response headers are recorded as sent, also on the clock of the machine', async (t) => {
  const service = await start(t, {});
  await service.seed('team/app', { 'a.txt': 'a\n', 'b.bin': Buffer.alloc(100_000, 7) });
  for (const [method, target, headers] of [
    ['GET', '/api/v1/repo', {}],
    ['HEAD', '/api/v1/repo', {}],
    ['GET', '/api/v1/repos/file?path=b.bin', {}],
    ['GET', '/api/v1/repos/files', {}],
    ['GET', '/nothing', {}],
    ['GET', '/api/v1/repo', { 'x-emulator-fault': 'rate_limited;retry-after=3' }],
  ] as const) {
    const response = await service.call(method, target, { headers });
    const { connection, date, 'keep-alive': _, 'transfer-encoding': __, ...shown } = response.headers;
    const { answer: entry, outcome } = last(service);
    const fields = Object.fromEntries(entry.headers.map(([name, value]) => [name, String(value)]));
    t.same(fields, shown, `${method} ${target}`);
    t.equal(entry.bytes, response.bytes.length);
    t.equal(outcome, 'complete');
  }
});

t.test('Git requests have facts about the protocol and the outcome', async (t) => {
  const service = await start(t);
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  await service.call('POST', '/api/repos', { repo: 'r' });
  await bench.import('work', linearHistory(5));
  const remote = await service.remote('r');
  const from = () => service.emulator.requests().length;
  let before = from();
  await bench.git('work', 'push', '-q', remote, 'main');
  const tip = await bench.git('work', 'rev-parse', 'main');
  const objects = Number(await bench.git('work', 'rev-list', '--count', '--objects', 'main'));
  const git = () =>
    service.emulator
      .requests()
      .slice(before)
      .flatMap((entry) => (entry.status === 200 ? [entry] : []));
  const zero = '0'.repeat(40);
  t.match(git(), [
    { operation: 'gitInfoRefs', git: { phase: 'advertise', service: 'git-receive-pack' }, token: { scheme: 'basic' } },
    {
      operation: 'gitReceivePack',
      git: {
        phase: 'rpc',
        command: 'push',
        refs: ['refs/heads/main'],
        updates: [{ ref: 'refs/heads/main', old: zero, new: tip, refused: undefined }],
        pack: { objects, bytes: Number },
      },
    },
  ]);
  for (const version of [2, 1, 0]) {
    before = from();
    await bench.git('.', '-c', `protocol.version=${version}`, 'clone', '-q', '--bare', remote, `v${version}.git`);
    const rpc = git().at(-1)!;
    t.match(
      rpc.git,
      {
        phase: 'rpc',
        service: 'git-upload-pack',
        protocol: version,
        command: 'fetch',
        wants: version === 2 ? [tip, tip] : [tip],
        haves: [],
        counts: { wants: version === 2 ? 2 : 1, haves: 0 },
        pack: { objects, bytes: Number },
      },
      `version ${version}`,
    );
    t.ok(rpc.git!.pack!.bytes < rpc.answer.bytes, 'the pack is a part of the response');
    t.equal(rpc.answer.body!.encoding, 'base64');
    if (version === 2) t.match(git().at(-2)!.git, { command: 'ls-refs', refs: ['HEAD', 'refs/heads/', 'refs/tags/'] });
  }
  const bytes = service.emulator.requests().flatMap(({ git }) => (git?.command === 'fetch' ? [git.pack!.bytes] : []));
  t.equal(new Set(bytes.slice(1)).size, 1, 'also for a cached pack');
  before = from();
  await service.commit('r', { 'x.txt': 'x\n' });
  const behind = await bench.try('work', 'push', remote, '+main~1:refs/heads/main', 'main:refs/heads/HEAD/../x');
  t.equal(behind.status, 128, 'git itself refuses the name');
  await bench.git('v2.git', 'fetch', '-q', remote, 'main:main');
  t.match(git().at(-1)!.git, { command: 'fetch', haves: [tip], pack: { objects: 3 } });
  before = from();
  const refused = await service.remote('r', { path: 'r' });
  await bench.try('work', 'push', refused, ':refs/heads/main');
  t.match(git().at(-1)!.git, {
    updates: [{ ref: 'refs/heads/main', new: zero, refused: 'deletion of the current branch prohibited' }],
  });
});

t.test('why states the reason of a refusal, with the compared values', async (t) => {
  const service = await start(t);
  await service.seed('team/app', { 'a.txt': 'a\n' });
  const { emulator, call, token } = service;
  const why = async (target: string, options: Parameters<typeof call>[2]) => {
    await call('GET', target, options);
    return last(service).why.join('\n');
  };
  const repo = 'team/app';
  const short = await token({ repo, ttl: 60 });
  await emulator.clock.advance(61_000);
  const seconds = (at: number) => new Date(Math.floor(at / 1000) * 1000).toISOString();
  t.match(
    await why('/api/v1/repo', { token: short }),
    `check expired: exp is ${seconds(emulator.clock.now() - 1_000)}`,
  );
  t.match(last(service), { token: { verified: false, subject: /./, expires: /2026/ }, subject: undefined });
  t.match(
    await why('/api/v1/repo', { scopes: ['org:read', 'git:write'] }),
    'the operation needs the scopes git:read, but the token has org:read git:write',
  );
  t.match(await why('/api/repos/team%2Fother', {}), 'the path names "team/other", the repo claim "team/app"');
  const tip = (await call('GET', '/api/v1/repos/commit?sha=main')).json.commit.sha;
  t.equal(await why('/api/v1/repos/commit?sha=main', {}), `ref "main" is refs/heads/main at ${tip}`);
  t.equal(await why(`/api/v1/repos/file?path=a.txt&ref=${tip.slice(0, 8)}`, {}), `ref "${tip.slice(0, 8)}" is ${tip}`);
  t.match(await why('/api/v1/repos/file?path=a.txt&ref=none', {}), 'No branch, tag or commit is named none.');
  t.match(await why('/api/v1/repo', { repo: 'gone' }), 'demo has no repository "gone"');
  t.match(
    await why('/api/v1/repo', { token: `${(await token({ repo })).slice(0, -8)}AAAAAAAA` }),
    /check signature: alg is ES256, kid .*keys tried/,
  );
  t.match(await why('/api/v1/repo', { token: await token({ repo, org: 'nobody' }) }), 'check issuer: iss is "nobody"');
  t.match(
    await why('/api/v1/repo', { token: await token({ repo, scopes: ['org:read', 'all'] as never }) }),
    'scopes is org:read all; hosting is on',
  );
});

t.test('the origin is `state` if a state refuses a request, whatever the code', async (t) => {
  const service = await start(t);
  const { emulator, call } = service;
  await service.seed('team/app', { 'a.txt': 'a\n' });
  const origin = async (target: string) => {
    await call('GET', target);
    return [last(service).code, last(service).origin];
  };
  const archive = () => emulator.state.change({ repositories: { 'team/app': { state: 'archived' } } });
  archive();
  t.same(await origin('/api/v1/repos/files/metadata'), ['service_unavailable', 'state']);
  archive();
  t.same(await origin('/api/v1/repos/branches'), ['repository_thawing', 'state']);
  emulator.state.change({ repositories: { 'team/app': { state: 'active' } } });
  const ends = { requests: 1 };
  emulator.state.change({ organizations: { demo: { authentication: 'unavailable', ends } } });
  t.same(await origin('/api/v1/repo'), ['authentication_unavailable', 'state']);
  t.same(await origin('/api/v1/repo'), [undefined, 'real']);
});

t.test('the outcome is `gone` if the client disconnects before the end of the response', async (t) => {
  const service = await start(t);
  const files = Array.from({ length: 12 }, (_, at) => [`${at}.bin`, randomBytes(3 * 1024 * 1024)] as const);
  await service.seed('team/app', Object.fromEntries(files));
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const bearer = await service.token({ repo: 'team/app' });
  const head = [`POST /api/v1/repos/archive HTTP/1.1`, `Host: ${hostname}`, `Authorization: Bearer ${bearer}`];
  socket.write(`${[...head, 'Content-Length: 2'].join('\r\n')}\r\n\r\n{}`);
  // Disconnect in the middle of the body, but only after more bytes than the journal stores (64 KiB).
  let received = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    received += chunk.length;
    if (received > 128 * 1024) break;
  }
  t.equal(last(service).outcome, 'open');
  socket.destroy();
  while (last(service).outcome === 'open') await new Promise((resolve) => setImmediate(resolve));
  t.match(last(service), { outcome: 'gone', status: 200, answer: { body: { truncated: true } } });
});

t.test('requests are selected by their properties', async (t) => {
  const service = await start(t);
  const { emulator, call } = service;
  await service.seed('team/app', { 'a.txt': 'a\n' });
  await emulator.clock.advance(10_000);
  await call('GET', '/api/v1/repo', { headers: { 'x-emulator-fault': 'rate_limited' } });
  await call('GET', '/api/v1/repo');
  const headers = { 'user-agent': 'git/2.39.5 (Debian)' };
  await call('GET', '/team%2Fapp.git/info/refs?service=git-upload-pack', { headers });
  const ids = (query: RequestQuery) => emulator.requests(query).map(({ id }) => Number(id.slice(4)));
  for (const [query, found] of [
    [{ operation: 'getRepository' }, [3, 4]],
    [{ operation: ['getRepository', 'commitPack'] }, [2, 3, 4]],
    [{ operation: 'git*' }, [5]],
    [{ status: 429 }, [3]],
    [{ status: '2xx' }, [1, 2, 4, 5]],
    [{ status: [429, '201'] }, [1, 2, 3]],
    [{ userAgent: 'git/2.39.5 (Debian)' }, [5]],
    [{ userAgent: 'git/*' }, [5]],
    [{ userAgent: 'git/2.39.5' }, []],
    [{ code: 'rate_limited' }, [3]],
    [{ origin: 'injected' }, [3]],
    [{ origin: 'injected:rate_limited' }, [3]],
    [{ origin: 'real', method: 'GET' }, [4, 5]],
    [{ fault: 'rate_limited' }, [3]],
    [{ fault: '*' }, [3]],
    [{ failed: true }, [3]],
    [{ failed: false, operation: 'getRepository' }, [4]],
    [{ since: '2026-01-01T00:00:05Z' }, [3, 4, 5]],
    [{ until: '2026-01-01T00:00:05Z' }, [1, 2]],
    [{ git: { phase: 'advertise' } }, [5]],
    [{ git: { command: 'fetch' } }, []],
    [{ path: '/api/v1/repo' }, [3, 4]],
    [{ outcome: 'complete', after: 'req-00000004' }, [5]],
    [{ repository: 'team/other' }, []],
  ] as const) {
    t.same(ids(query), found, JSON.stringify(query));
  }
  for (const [query, sentence] of [
    [{ operations: 'x' }, /operations/],
    [{ operation: 'nothing' }, /operation: unknown operation "nothing"/],
    [{ status: '9xx' }, /status: must be a status from 100 to 599/],
    [{ method: 'get' }, /method: must be/],
    [{ origin: 'fault' }, /origin: must be real/],
    [{ since: 'yesterday' }, /since: .*ISO/],
    [{ git: { verb: 'x' } }, /git: .*verb/],
    [{ outcome: 'lost' }, /outcome: .*complete/],
  ] as const) {
    t.throws(() => emulator.requests(query as never), sentence, JSON.stringify(query));
  }
  const parameters = parseQuery(
    'status=429,2xx&operation=getRepository,git*&git.phase=advertise&since=2026-01-01T00:00:00Z',
    [],
  );
  t.same(readQueryParameters(parameters), {
    status: [429, '2xx'],
    operation: ['getRepository', 'git*'],
    git: { phase: 'advertise' },
    since: '2026-01-01T00:00:00Z',
  });
  for (const wrong of ['status=x', 'a=1', 'method=GET&method=PUT', 'git.x=1', 'operation=']) {
    t.throws(() => readQueryParameters(parseQuery(wrong, [])), { code: 'bad_request' }, wrong);
  }
});

t.test('a subscription reports ended requests, continues after a number, and reports how many it missed', async (t) => {
  const service = await start(t, { clock: CLOCK, limits: { maxJournal: 5 } as never });
  const { call, world } = service;
  const ask = async (count: number) => {
    for (let n = 0; n < count; n++) await call('GET', '/api/v1/repo');
  };
  const numbers = (told: (EndedRequest | MissedRequests)[]) =>
    told.map((one) => ('missed' in one ? `-${one.missed}` : one.id));
  const take = async (source: AsyncIterator<EndedRequest | MissedRequests>, count: number) => {
    const told: (EndedRequest | MissedRequests)[] = [];
    while (told.length < count) told.push((await source.next()).value as EndedRequest);
    return told;
  };
  const live = subscribe(world.state.journal);
  const first = live.next();
  await ask(3);
  t.same(numbers([(await first).value as EndedRequest, ...(await take(live, 2))]), [1, 2, 3]);
  await live.return();
  await ask(4);
  t.same(numbers(await take(subscribe(world.state.journal, { after: 5 }), 2)), [6, 7]);
  t.same(
    numbers(await take(subscribe(world.state.journal, { after: 0 }), 6)),
    ['-2', 3, 4, 5, 6, 7],
    'two were dropped',
  );
  t.same(numbers(await take(subscribe(world.state.journal, { after: 99 }), 3)), ['-2', 3, 4], 'after a restore');
  const slow = subscribe(world.state.journal, { capacity: 2, query: { operation: 'getRepository' } });
  const begun = slow.next();
  await ask(4);
  t.same(numbers([(await begun).value as EndedRequest]), [8]);
  t.same(numbers(await take(slow, 3)), ['-1', 10, 11], 'a slow reader receives the number of missed requests');
  const ended = slow.next();
  await service.emulator.reset();
  t.equal((await ended).done, true, 'the subscription ends when its state is replaced');
  const stop = new AbortController();
  const aborted = subscribe(service.world.state.journal, { signal: stop.signal }).next();
  stop.abort();
  t.equal((await aborted).done, true);
  const events = subscribe(service.world.state.journal, { after: 0 });
  await ask(6);
  t.same((await events.next()).value, { missed: 1 });
  t.match((await events.next()).value, { id: 2, entry: { id: 'req-00000002' } });
  await events.return();
});

t.test('a journal is exported as NDJSON and as an HTTP Archive', async (t) => {
  const service = await start(t);
  await service.seed('team/app', { 'a.txt': 'a\n' });
  await service.call('GET', '/api/v1/repos/file?path=a.txt&ref=main');
  const entries = service.emulator.requests();
  const lines = [...toNdjson(entries)].join('').trimEnd().split('\n');
  t.strictSame(
    lines.map((line) => JSON.parse(line)),
    JSON.parse(JSON.stringify(entries)),
  );
  const { log } = JSON.parse([...toHar(entries)].join(''));
  t.match(log, { version: '1.2', creator: { name: 'repohost-emulator', version: /^\d/ } });
  const required = ['startedDateTime', 'time', 'request', 'response', 'cache', 'timings'];
  for (const entry of log.entries) for (const member of required) t.ok(Object.hasOwn(entry, member), member);
  t.match(log.entries[1], {
    request: {
      method: 'POST',
      url: `${service.url}/api/v1/repos/commit-pack`,
      postData: { text: packBody({ 'a.txt': 'a\n' }) },
    },
    response: { status: 201, statusText: 'Created', content: { mimeType: 'application/json' } },
  });
  t.match(log.entries[2], {
    startedDateTime: entries[2]!.began,
    time: entries[2]!.duration,
    request: {
      url: `${service.url}/api/v1/repos/file?path=a.txt&ref=main`,
      queryString: [
        { name: 'path', value: 'a.txt' },
        { name: 'ref', value: 'main' },
      ],
      httpVersion: 'HTTP/1.1',
      headersSize: -1,
    },
    response: { status: 200, content: { size: 2, text: 'a\n' }, redirectURL: '' },
    timings: { send: 0, receive: 0 },
    _emulator: { operation: 'readFile', origin: 'real', outcome: 'complete' },
  });
});

import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { Client } from 'undici';
import { EVERY_SCOPE } from '../operations/routes/fixture.js';
import { packBody, type Service, startService } from '../service.js';

async function stage(t: Test): Promise<Service> {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  return service;
}

const OUTAGE = { error: { code: 'service_unavailable' } } as const;

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('each stage is between the checks before and after it', async (t) => {
  const service = await stage(t);
  const { emulator } = service;
  const expired = await service.token({ repo: 'team/app', ttl: 60, now: emulator.clock.now() - 3_600_000 });
  // Each row has a defect of a request, which causes a refusal. `met` lists, in order, the stages whose faults fire
  // nevertheless.
  const stages = ['headers', 'auth', 'before', 'body', 'after', 'response.head'] as const;
  const create = (json: unknown, options = {}) =>
    service.call('POST', '/api/v1/repos/branches/create', { json, scopes: EVERY_SCOPE, ...options });
  const fine = { target_branch: 'new', base_ref: 'main' };
  const rows: readonly (readonly [
    what: string,
    send: () => ReturnType<typeof create>,
    met: string,
    otherwise: number,
  ])[] = [
    ['an expired token', () => create(fine, { token: expired }), 'headers auth response.head', 403],
    ['a missing scope', () => create(fine, { scopes: ['git:read'] }), 'headers auth response.head', 403],
    ['a missing repository', () => create(fine, { repo: 'none' }), 'headers auth response.head', 404],
    ['a wrong body', () => create({ target_branch: 5 }), 'headers auth before body response.head', 400],
    ['a missing ref', () => create({ ...fine, base_ref: 'none' }), 'headers auth before body response.head', 404],
    ['nothing', () => create(fine), stages.join(' '), 201],
  ];
  for (const [what, send, met, otherwise] of rows) {
    const answered: string[] = [];
    for (const at of stages) {
      const fault = emulator.fault({ at, do: { unknownCode: { status: 555, code: 'met_here' } } });
      const response = await send();
      if (response.status === 555) answered.push(at);
      else t.equal(response.status, otherwise, `${what}, ${at}: ${response.text}`);
      t.equal(fault.fired, response.status === 555 ? 1 : 0, `${what}, ${at}: counted only where it was met`);
      fault.remove();
      await service.call('DELETE', '/api/v1/repos/branches', { json: { target_branch: 'new' }, scopes: EVERY_SCOPE });
    }
    t.equal(answered.join(' '), met, what);
  }
});

t.test('the effect of a request stays if a fault fires at the stage after or later', async (t) => {
  const service = await stage(t);
  const { emulator } = service;
  for (const at of ['before', 'body', 'after', 'response.head'] as const) {
    const fault = emulator.fault({ at, do: { raw: { status: 599, headers: { 'x-raw': 'yes' } } } });
    const body = packBody({ [`${at}.txt`]: 'x' });
    const response = await service.call('POST', '/api/v1/repos/commit-pack', { body });
    t.match(response, { status: 599, text: '', headers: { 'x-raw': 'yes', 'x-emulator-fault-fired': fault.id } }, at);
    fault.remove();
    const read = await service.call('GET', `/api/v1/repos/file?path=${at}.txt`);
    t.equal(read.status, at === 'before' || at === 'body' ? 404 : 200, at);
    t.match(emulator.requests({ status: 599 }).at(-1), { origin: `injected:${fault.id}`, operation: 'commitPack' });
  }
});

t.test('a raw response is sent unchanged', async (t) => {
  const service = await stage(t);
  const headers = { 'x-emulator-fault': 'raw;status=203;type=text/x-any;body=aGVsbG8' };
  t.match(await service.call('GET', '/api/v1/repo', { headers }), {
    status: 203,
    text: 'hello',
    headers: { 'content-type': 'text/x-any', 'content-length': '5' },
  });
});

t.test('a raw response can end before its announced length', async (t) => {
  const service = await stage(t);
  const token = await service.token({ repo: 'team/app' });
  const bodyBase64 = Buffer.from('hello').toString('base64');
  for (const how of ['fin', 'rst', 'stall'] as const) {
    for (const length of [undefined, 9]) {
      const cut = { how, ...(length !== undefined && { length }) };
      const fault = service.emulator.fault({ do: { raw: { status: 203, bodyBase64, cut } } });
      const client = connect(Number(new URL(service.url).port), '127.0.0.1');
      let received = '';
      let ending = 'fin';
      client.on('error', () => {
        ending = 'rst';
      });
      client.write(`GET /api/v1/repo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      await new Promise<void>((resolve) => {
        client.on('close', () => resolve());
        client.on('data', (piece) => {
          received += piece;
          // A stalled response does not end, so the client must.
          if (how === 'stall' && received.includes('hello')) client.destroy();
        });
      });
      t.match(received, /^HTTP\/1\.1 203 /, how);
      t.match(received, length === undefined ? /transfer-encoding: chunked/i : /content-length: 9/i);
      t.match(received, length === undefined ? /\r\n5\r\nhello\r\n$/ : /\r\n\r\nhello$/);
      t.equal(ending, how === 'rst' ? 'rst' : 'fin');
      t.equal(fault.fired, 1);
      fault.remove();
    }
  }
});

t.test('Retry-After in all its forms', async (t) => {
  const service = await stage(t);
  const rows: readonly (readonly [fault: string, retryAfter: string | undefined, rateLimit: string | undefined])[] = [
    ['rate_limited', '1', '"default";r=0;t=1'],
    ['rate_limited;retry-after=5', '5', '"default";r=0;t=5'],
    ['rate_limited;t=1;retry-after=2', '2', '"default";r=0;t=1'],
    ['rate_limited;retry-after=omit', undefined, '"default";r=0;t=1'],
    ['rate_limited;retry-after=garbage', 'soon', '"default";r=0;t=1'],
    ['service_unavailable', '1', undefined],
    ['service_unavailable;retry-after=omit', undefined, undefined],
    ['repository_thawing;retry-after=9', '9', undefined],
    ['repository_thawing;retry-after=omit', undefined, undefined],
    ['internal_error', undefined, undefined],
    ['internal_error;retry-after=4', '4', undefined],
    ['code;code=busy;status=503', '1', undefined],
    ['code;code=busy;status=418', undefined, undefined],
  ];
  for (const [fault, retryAfter, rateLimit] of rows) {
    const { headers } = await service.call('GET', '/api/v1/repo', { headers: { 'x-emulator-fault': fault } });
    t.same([headers['retry-after'], headers.ratelimit], [retryAfter, rateLimit], fault);
  }
  const { headers } = await service.call('GET', '/api/v1/repo', {
    headers: { 'x-emulator-fault': 'service_unavailable;retry-after=http-date' },
  });
  t.equal(Date.parse(headers['retry-after']!), Math.floor(service.emulator.clock.now() / 1000) * 1000 + 1000);
  const throttled = await service.call('GET', '/api/v1/repos/files/metadata', {
    headers: { 'x-emulator-fault': 'rate_limited;retry-after=omit' },
  });
  t.equal(throttled.json.code, 'rate_limited', 'throttling is told in problem details');
});

t.test('an unknown code has the usual error format', async (t) => {
  const service = await stage(t);
  const headers = { 'x-emulator-fault': 'code;code=quota_exhausted;status=418' };
  const response = await service.call('GET', '/api/v1/repo', { headers });
  t.match(response, { status: 418, json: { code: 'quota_exhausted', status: 418, title: "I'm a Teapot" } });
  t.equal(service.emulator.requests().at(-1)!.code, 'quota_exhausted');
  const metadata = await service.call('GET', '/api/v1/repos/files/metadata', { headers });
  t.same(Object.keys(metadata.json), ['error']);
});

t.test('a held request continues when its latch is released', async (t) => {
  const service = await stage(t);
  const { latches } = service.world.background;
  const held = service.emulator.fault('hold@before;latch=gate');
  const body = packBody({ a: 'a' });
  const commit = service.call('POST', '/api/v1/repos/commit-pack', { body });
  while (latches.waiting().get('gate') !== 1) await turn();
  t.equal([...service.world.state.journal.entries()].filter(({ operation }) => operation === 'commitPack').length, 1);
  held.remove();
  t.equal((await service.call('GET', '/api/v1/repos/file?path=a')).status, 404, 'nothing was done so far');
  t.equal(latches.release('gate'), 1);
  t.match(await commit, { status: 201, headers: { 'x-emulator-fault-fired': held.id } });
});

t.test('a held request whose client disconnects is released without effect', async (t) => {
  const service = await stage(t);
  const { latches } = service.world.background;
  service.emulator.fault('hold*1@before;latch=gate');
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const token = await service.token({ repo: 'team/app', scopes: EVERY_SCOPE });
  const target = '/api/repos/team%2Fapp';
  socket.write(`DELETE ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  while (latches.waiting().size === 0) await turn();
  socket.resetAndDestroy();
  while (latches.waiting().size > 0) await turn();
  while (service.emulator.requests({ operation: 'deleteRepository' }).length === 0) await turn();
  t.match(service.emulator.requests({ operation: 'deleteRepository' }), [{ code: 'request_canceled', status: 499 }]);
  t.equal((await service.call('GET', target)).status, 200, 'it is still there');
});

t.test('a reset releases held requests: reads are answered, and a write is refused', async (t) => {
  const service = await stage(t);
  const { background } = service.world;
  service.emulator.fault('hold@before;latch=gate');
  const read = service.call('GET', '/api/v1/repo');
  const write = service.call('POST', '/api/v1/repos/commit-pack', { body: packBody({ a: 'a' }) });
  while (background.latches.waiting().get('gate') !== 2) await turn();
  await service.emulator.reset();
  t.equal((await read).status, 200);
  t.match(await write, { status: 503, json: { code: 'service_unavailable' } });
  t.equal(service.world.state.faults.isIdle, true, 'and the fault is gone');
});

t.test('closing the emulator releases held requests', async (t) => {
  const service = await startService();
  await service.seed('team/app');
  service.emulator.fault('hold@before;latch=gate');
  const read = service.call('GET', '/api/v1/repo');
  while (service.world.background.latches.waiting().size === 0) await turn();
  await service.emulator.close();
  t.equal((await read).status, 200);
});

t.test('a fault can have conditions on the body', async (t) => {
  const service = await stage(t);
  service.emulator.fault({
    match: { op: 'createBranch', http: { body: { '/target_branch': 'topic*' } } },
    do: { error: { code: 'conflict' } },
  });
  const create = (json: unknown) => service.call('POST', '/api/v1/repos/branches/create', { json });
  t.equal((await create({ target_branch: 'topic/1', base_ref: 'main' })).status, 409);
  t.ok((await create({ target_branch: 'other', base_ref: 'main' })).status < 300);
  const headers = { 'content-type': 'application/json' };
  const broken = await service.call('POST', '/api/v1/repos/branches/create', { body: '{', headers });
  t.equal(broken.status, 400, 'one that cannot be read is refused as ever');
});

t.test('concurrent requests cannot exceed the number of times of a fault', async (t) => {
  const service = await stage(t);
  const fault = service.emulator.fault({ when: { skip: 3, times: 5 }, do: [{ latency: { ms: 5 } }, OUTAGE] });
  const responses = await Promise.all(Array.from({ length: 20 }, () => service.call('GET', '/api/v1/repo')));
  t.equal(responses.filter(({ status }) => status === 503).length, 5);
  t.equal(fault.fired, 5);
});

t.test('a fault can count each connection separately', async (t) => {
  const service = await stage(t);
  service.emulator.fault({ when: { times: 1, by: ['connection'] }, do: OUTAGE });
  const authorization = `Bearer ${await service.token({ repo: 'team/app' })}`;
  const clients = [new Client(service.url), new Client(service.url)];
  const statuses: number[] = [];
  for (const client of [...clients, ...clients]) {
    const { statusCode, body } = await client.request({
      method: 'GET',
      path: '/api/v1/repo',
      headers: { authorization },
    });
    await body.dump();
    statuses.push(statusCode);
  }
  for (const client of clients) await client.close();
  t.same(statuses, [503, 503, 200, 200]);
});

t.test('the journal has the reason why a nearly matching fault did not fire', async (t) => {
  const service = await stage(t);
  service.emulator.fault({ match: { repo: 'other/*' }, do: { error: { code: 'conflict' } } });
  service.emulator.fault({ when: { skip: 1 }, do: { error: { code: 'conflict' } } });
  await service.call('GET', '/api/v1/repo');
  t.match(service.emulator.requests().at(-1), {
    status: 200,
    origin: 'real',
    why: [
      'fault-1 did not fire: repo is team/app, not other/*',
      'fault-2 did not fire: it skips the first 1 matching requests',
    ],
  });
  service.emulator.fault({ at: 'after', match: { repo: 'other/*' }, do: { error: { code: 'conflict' } }, priority: 1 });
  await service.call('GET', '/api/v1/repos/commit?sha=none', { headers: { 'x-emulator-fault': 'sync_in_progress' } });
  t.match(service.emulator.requests().at(-1)!.why[0], 'fault-1 did not fire', 'also of one that is refused');
});

t.test('the handle of a fault', async (t) => {
  const service = await stage(t);
  const { emulator } = service;
  const ask = async () => (await service.call('GET', '/api/v1/repo')).status;
  {
    await using fault = emulator.fault('conflict');
    t.same([fault.id, fault.fired, fault.requests()], ['fault-1', 0, []]);
    t.equal(await ask(), 409);
    t.same([fault.fired, fault.requests()], [1, [emulator.requests().at(-1)!.id]]);
  }
  t.equal(await ask(), 200, 'it ends with its block');
  const fault = emulator.fault({ id: 'mine', do: { error: { code: 'conflict' } } });
  const id = await emulator.snapshot();
  t.equal(await ask(), 409);
  fault.remove();
  fault.remove();
  t.same([await ask(), fault.fired], [200, 1], 'it shows what it was last');
  await emulator.restore(id);
  t.same([await ask(), fault.fired], [409, 1], 'a snapshot has it');
  for (const [bad, sentence] of [
    ['nonsense', /^fault: unknown fault nonsense/],
    [{ do: { latency: { ms: 0 } } }, /do\.latency\.ms/],
    [{ match: { op: 'x' }, do: { latency: { ms: 1 } } }, /unknown operation "x"/],
    ['conflict,conflict', /is not name/],
  ] as const) {
    t.throws(() => emulator.fault(bad), sentence);
  }
});

import t from 'tap';
import { startService } from '../service.js';

t.test('the first failing check decides the response', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app');
  const { call, token } = service;
  const expired = await token({ repo: 'team/app', ttl: 60, now: Date.now() - 3_600_000 });

  // Each row has one defect of a request, in the order of the checks. Its request also has the defects of all rows
  // below, so the response shows which check is first.
  const rows: [string, () => ReturnType<typeof call>, number, string][] = [
    ['a target that is none', () => call('GET', '/api/repos#x', { token: null }), 400, 'bad_request'],
    [
      'a foreign host',
      () => call('GET', '/nothing', { token: null, headers: { host: 'evil.example' } }),
      403,
      'forbidden',
    ],
    ['an unknown route', () => call('GET', '/api/nothing', { token: null }), 404, 'route_not_found'],
    ['a wrong method', () => call('PATCH', '/api/repos/other/commit', { token: null }), 405, 'method_not_allowed'],
    ['no credential', () => call('GET', '/api/repos/other/commit', { token: null }), 401, 'unauthorized'],
    ['an invalid token', () => call('GET', '/api/repos/other/commit', { token: expired }), 403, 'forbidden'],
    [
      'no repo claim',
      async () => call('GET', '/api/repos/other/commit', { token: await token({ scopes: ['org:read'] }) }),
      400,
      'repo_claim_missing',
    ],
    [
      'a path that differs from the claim',
      () => call('GET', '/api/repos/other/commit', { scopes: ['repo:write'] }),
      404,
      'repository_not_found',
    ],
    [
      'a missing scope',
      () =>
        call('GET', '/api/repos/gone/commit', {
          repo: 'gone',
          scopes: ['repo:write'],
          headers: { 'x-emulator-fault': 'rate_limited' },
        }),
      403,
      'insufficient_scope',
    ],
    [
      'the quota',
      () => call('GET', '/api/repos/gone/commit', { repo: 'gone', headers: { 'x-emulator-fault': 'rate_limited' } }),
      429,
      'rate_limited',
    ],
    [
      'a missing repository',
      () =>
        call('GET', '/api/repos/gone/commit', { repo: 'gone', headers: { 'x-emulator-fault': 'repository_thawing' } }),
      404,
      'repository_not_found',
    ],
    [
      'the state',
      () => call('GET', '/api/repos/team%2Fapp/commit', { headers: { 'x-emulator-fault': 'repository_thawing' } }),
      409,
      'repository_thawing',
    ],
    ['the input', () => call('GET', '/api/repos/team%2Fapp/commit'), 400, 'bad_request'],
    ['the ref', () => call('GET', '/api/repos/team%2Fapp/commit?sha=nothing'), 404, 'ref_not_found'],
  ];
  for (const [what, send, status, code] of rows) {
    const response = await send();
    t.match(response, { status, json: { status, code } }, what);
    t.equal(response.json.error, response.json.detail, `${what}: error mirrors detail`);
    t.equal(response.headers['content-type'], 'application/problem+json');
  }
});

t.test('errors of the input are reported before errors of the ref', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app');
  const author = { name: 'Ada', email: 'ada@example.com' };
  const nameless = { name: '', email: 'ada@example.com' };
  const reads = [
    'file?ref=none&path=..',
    'files?ref=none&limit=0',
    'files/metadata?ref=none&ephemeral=1',
    'commits?ref=none&limit=0',
    'diff?ref=none&path=..',
    'branches/diff?branch=none&path=..',
    'blame?ref=none&path=..',
    'notes?sha=none&ref=a..b',
  ];
  for (const read of reads) t.equal((await service.call('GET', `/api/v1/repos/${read}`)).status, 400, read);
  const writes: [string, object][] = [
    ['grep', { ref: 'none', query: { pattern: '(' } }],
    ['archive', { ref: 'none', archive: { prefix: '..' } }],
    ['notes', { sha: 'none', note: 'n', author: nameless }],
    ['branches/create', { target_branch: 'a..b', base_ref: 'none' }],
    ['tags', { name: 'a..b', ref: 'none' }],
    ['restore-commit', { metadata: { target_branch: 'main', base_ref: 'none', author, committer: nameless } }],
    ['restore-commit', { metadata: { target_branch: 'main', base_ref: 'none', author, commit_message: '' } }],
  ];
  for (const [path, json] of writes) {
    t.equal((await service.call('POST', `/api/v1/repos/${path}`, { json })).status, 400, JSON.stringify(json));
  }
  await service.call('POST', '/api/repos', { repo: 'empty' });
  const json = { query: { pattern: '(' } };
  t.equal((await service.call('POST', '/api/v1/repos/grep', { json, repo: 'empty' })).status, 400, 'nothing to search');
});

t.test('the author of a note without author is the sub of the token', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const sha = await service.seed('team/app');
  for (const sub of ['', '<>', 'a\0b']) {
    const token = await service.token({ repo: 'team/app', sub });
    const json = { sha, note: 'n', action: 'append' };
    t.equal((await service.call('POST', '/api/v1/repos/notes', { token, json })).status, 201, JSON.stringify(sub));
  }
});

t.test('a missing repository and one of another claim get the same response', async (t) => {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(() => service.emulator.close());
  await service.seed('a');
  await service.seed('b');
  const other = await service.call('GET', '/api/repos/b', { repo: 'a' });
  const missing = await service.call('GET', '/api/repos/b', { repo: 'missing' });
  t.equal(other.text, missing.text);
  t.equal((await service.call('GET', '/api/repos/a', { repo: 'a' })).status, 200);
});

t.test('a token as a password is accepted only by Git remotes', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app');
  const basic = Buffer.from(`t:${await service.token({ repo: 'team/app' })}`).toString('base64');
  const ask = (target: string) =>
    service.call('GET', target, { token: null, headers: { authorization: `Basic ${basic}` } });
  t.equal((await ask('/team/app.git/info/refs?service=git-upload-pack')).status, 200);
  t.match(await ask('/api/v1/repo'), {
    status: 401,
    json: { code: 'unauthorized' },
    headers: { 'www-authenticate': 'Bearer' },
  });
});

t.test('a remote without a repository name is refused', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.call('POST', '/api/repos', { repo: 'x' });
  const refs = (path: string) => service.call('GET', `${path}/info/refs?service=git-upload-pack`, { repo: 'x' });
  t.match(await refs('/.git'), { status: 404, json: { code: 'route_not_found' } }, 'none');
  t.equal((await refs('/x.git')).status, 200, 'a short one');
});

t.test('names are decoded once and compared exactly', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  for (const name of ['team/app', 'a%2Fb', 'caf\u00e9', 'cafe\u0301', 'x.git', 'A', 'a', 'a+b', 'a b']) {
    await service.seed(name);
    const response = await service.call('GET', `/api/repos/${encodeURIComponent(name)}`, { repo: name });
    t.match(response, { status: 200, json: { url: name, repo_name: name } }, name);
  }
  const ask = (target: string, repo: string) => service.call('GET', target, { repo });
  t.match(await ask('/api/repos/team%252Fapp', 'team/app'), { status: 404, json: { code: 'repository_not_found' } });
  t.match(await ask('/api/repos/team/app', 'team/app'), { status: 404, json: { code: 'route_not_found' } });
  t.match(await ask('/api/repos/a', 'A'), { status: 404 });
  t.match(await ask('/api/repos/caf%C3%A9', 'cafe\u0301'), { status: 404 }, 'no Unicode normalization');
  for (const bad of ['%zz', '%', '%ff', '%c0%af', '%00']) {
    t.match(await ask(`/api/repos/${bad}`, 'a'), { status: 400, json: { code: 'bad_request' } }, bad);
  }
});

t.test('HEAD responds like GET, except on file metadata', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app');
  const head = await service.call('HEAD', '/api/v1/repos/file?path=README.md');
  t.match(head, { status: 200, text: '', headers: { 'content-length': '6' } });
  for (const range of ['bytes=0-1', 'bytes=6-', 'bytes=-0']) {
    for (const more of [{}, { 'if-range': head.headers.etag! }, { 'if-range': '"x"' }]) {
      const whole = await service.call('HEAD', '/api/v1/repos/file?path=README.md', { headers: { range, ...more } });
      t.match(whole, { status: 200, text: '', headers: { 'content-length': '6', 'content-range': undefined } }, range);
    }
  }
  const known = await service.call('HEAD', '/api/v1/repos/file?path=README.md', {
    headers: { 'if-none-match': head.headers.etag!, range: 'bytes=6-' },
  });
  t.equal(known.status, 304, 'conditions are for HEAD as well');
  t.equal((await service.call('HEAD', '/api/v1/repos/file?path=none')).status, 404);
  t.equal((await service.call('HEAD', '/api/v1/repos/files/metadata')).status, 405);
});

t.test('faults have the status and error format of the operation', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app');
  const ask = (method: string, target: string, fault: string) =>
    service.call(method, target, { headers: { 'x-emulator-fault': fault } });

  const thawing = await ask('GET', '/api/v1/repo', 'repository_thawing;retry-after=7');
  t.match(thawing, {
    status: 409,
    json: { code: 'repository_thawing' },
    headers: { 'retry-after': '7', 'x-emulator-fault-fired': 'repository_thawing' },
  });
  const metadata = await ask('GET', '/api/v1/repos/files/metadata', 'repository_thawing');
  t.equal(metadata.status, 503);
  t.same(Object.keys(metadata.json), ['error']);
  t.equal(metadata.headers['content-type'], 'application/json');

  const syncing = await ask('POST', '/api/v1/repos/commit-pack', 'sync_in_progress');
  t.match(syncing, { status: 409, json: { code: 'sync_in_progress' } });
  const read = await ask('GET', '/api/v1/repo', 'sync_in_progress');
  t.equal(read.status, 200, 'reads pass during a sync');
  t.notOk('x-emulator-fault-fired' in read.headers, 'and an answer that was not touched does not say so');

  const throttled = await ask('GET', '/api/v1/repos/files/metadata', 'rate_limited;retry-after=3');
  t.match(throttled, {
    status: 429,
    json: { code: 'rate_limited' },
    headers: { ratelimit: '"default";r=0;t=3', 'retry-after': '3' },
  });

  const statuses = [];
  for (let n = 0; n < 5; n++) statuses.push((await ask('GET', '/api/v1/repo', 'rate_limited*2+1')).status);
  t.same(statuses, [200, 429, 429, 200, 200], 'one passes, two are hit, the rest pass');
  for (const bad of ['nonsense', 'rate_limited*', 'rate_limited;retry-after=x', 'rate_limited;what=1', '']) {
    t.match(await ask('GET', '/api/v1/repo', bad), { status: 400, json: { code: 'bad_request' } }, bad);
  }
});

t.test('the same seed, clock and requests give the same responses and journal', async (t) => {
  const run = async () => {
    const service = await startService({ seed: '7', clock: Date.parse('2026-01-01T00:00:00Z') });
    const responses: string[] = [];
    try {
      await service.seed('team/app', { 'a.txt': 'a\n' });
      for (const target of [
        '/api/v1/repo',
        '/api/v1/repos/commit?sha=main',
        '/api/v1/repos/file?path=a.txt',
        '/api/repos?limit=1',
        '/nothing',
      ]) {
        const { status, headers, text } = await service.call('GET', target);
        responses.push(JSON.stringify([status, { ...headers, connection: '', 'keep-alive': '' }, text]));
      }
      // Replace real times and the port, because they differ between the compared runs.
      const shown = (name: string, value: unknown) => (name === 'started' || name === 'duration' ? 0 : value);
      const journal = JSON.stringify(service.emulator.requests(), shown).replaceAll(new URL(service.url).port, '0');
      return [...responses, journal];
    } finally {
      await service.emulator.close();
    }
  };
  const [first, second] = [await run(), await run()];
  t.same(first, second);
  t.match(first.at(-1), '2026-01-01T00:00:00.001Z');
});

t.test('a fault counts the requests of one token subject on one repository', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const statuses: number[] = [];
  for (const [repo, sub] of [
    ['team/app', 'a'],
    ['team/app', 'b'],
    ['team/other', 'a'],
    ['team/app', 'a'],
  ] as const) {
    const token = await service.token({ repo, sub, scopes: ['git:read'] });
    const headers = { 'x-emulator-fault': 'rate_limited*1' };
    statuses.push((await service.call('GET', '/api/v1/repo', { token, headers })).status);
  }
  t.same(statuses, [429, 429, 429, 404], 'the first of each, and no more');
});

t.test('Date is the time of the clock, and the journal has the origin of a refusal', async (t) => {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
  t.teardown(() => service.emulator.close());
  const { emulator } = service;
  await service.seed('team/app', { 'a.txt': 'a\n' });
  await emulator.clock.advance(3_600_000);
  const { headers } = await service.call('GET', '/api/v1/repo');
  t.equal(headers.date, new Date(emulator.clock.now()).toUTCString());
  emulator.state.change({ repositories: { 'team/app': { state: 'archived' } } });
  const asked = { headers: { 'x-emulator-fault': 'repository_thawing' } };
  await service.call('GET', '/api/v1/repos/branches');
  emulator.state.change({ repositories: { 'team/app': { state: 'active' } } });
  await service.call('GET', '/api/v1/repos/branches', asked);
  await service.call('GET', '/api/v1/repos/nothing');
  t.match(
    emulator
      .requests()
      .slice(-3)
      .map(({ status, code, origin }) => [status, code, origin]),
    [
      [409, 'repository_thawing', 'state'],
      [409, 'repository_thawing', 'injected:repository_thawing'],
      [404, 'route_not_found', 'real'],
    ],
  );
});

t.test('no token appears in the log, the journal or a response', async (t) => {
  const lines: string[] = [];
  const { startEmulator } = await import('../../index.js');
  const emulator = await startEmulator({ port: 0 }, { log: { write: (line) => lines.push(JSON.stringify(line)) } });
  t.teardown(() => emulator.close());
  const { request } = await import('undici');
  const canary = 'eyJhbGciOiJFUzI1NiJ9.CANARY.CANARY';
  const responses: string[] = [];
  const send = async (path: string, headers: Record<string, string>) =>
    responses.push(await (await request(`${emulator.baseUrl}${path}`, { headers })).body.text());
  await send(`/api/v1/repo?token=${canary}`, {
    authorization: `Bearer ${canary}`,
    cookie: canary,
    'x-authorization': canary,
  });
  await send('/a.git/info/refs?service=git-upload-pack', {
    authorization: `Basic ${Buffer.from(`t:${canary}`).toString('base64')}`,
  });
  const all = [...lines, ...responses, JSON.stringify(emulator.requests())].join('\n');
  t.ok(all.includes('forbidden'), 'the requests were seen');
  t.notOk(all.includes('CANARY'));
});

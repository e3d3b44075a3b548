import t from 'tap';
import { request } from 'undici';
import { startAdmin } from './admin-service.js';

t.test('requests are listed, shown, streamed and removed', async (t) => {
  const { admin, call, seed, url } = await startAdmin(t);
  await seed('r');
  await call('GET', '/api/v1/repos/file?path=none', { repo: 'r' });
  const { json } = await admin('GET', '/requests?operation=readFile&status=404');
  t.match(json, { items: [{ method: 'GET', path: '/api/v1/repos/file', code: 'not_found', repository: 'r' }] });
  const [{ id }] = json.items;
  t.same((await admin('GET', `/requests/${id}`)).json, json.items[0]);
  t.match(await admin('GET', '/requests/none'), { status: 404 });
  t.same((await admin('GET', `/requests?after=${id}`)).json.items, []);
  const { json: earlier } = await admin('GET', `/requests?before=${id}&order=newest`);
  t.ok(earlier.items.every((one: { id: string }) => one.id < id));
  t.equal(earlier.items.length, (await admin('GET', '/requests')).json.items.length - 1);
  const stream = await request(`${url}/_emulator/requests/stream`, { headers: { 'last-event-id': '3' } });
  t.match(stream, { statusCode: 200, headers: { 'content-type': 'text/event-stream' } });
  const events: { id: string; event: string; data: Record<string, unknown> }[] = [];
  const read = (async () => {
    let text = '';
    for await (const chunk of stream.body) {
      text += String(chunk);
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const match = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(text.slice(0, end));
        if (match) events.push({ id: match[1]!, event: match[2]!, data: JSON.parse(match[3]!) });
        text = text.slice(end + 2);
      }
    }
  })();
  const until = async (count: number) => {
    while (events.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await call('GET', '/nothing', { token: null });
  await until(1);
  t.match(events, [{ event: 'request', data: { path: '/nothing', status: 404 } }]);
  t.equal(events[0]!.id, '4', 'the id is the number of the response that ended');
  await admin('DELETE', '/requests');
  t.same((await admin('GET', '/requests')).json.items, []);
  await call('GET', '/nothing/again', { token: null });
  await until(2);
  t.match(events[1], { event: 'request', data: { path: '/nothing/again' } });
  await admin('POST', '/reset');
  await until(3);
  t.match(events[2], { event: 'reset' });
  await call('GET', '/nothing/new', { token: null });
  await until(4);
  t.match(events[3], { event: 'request', id: '1', data: { path: '/nothing/new', id: 'req-00000001' } });
  await admin('POST', '/shutdown');
  await read;
  t.pass('the stream ends with the emulator');
});

t.test('a stream that continues before the start of the journal reports how many requests it missed', async (t) => {
  const { call, url, admin } = await startAdmin(t, { limits: { maxJournal: 2 } });
  for (let count = 0; count < 5; count++) await call('GET', '/nothing', { token: null });
  const stream = await request(`${url}/_emulator/requests/stream`, { headers: { 'last-event-id': '1' } });
  let text = '';
  for await (const chunk of stream.body) {
    text += String(chunk);
    if (text.includes('req-00000005')) break;
  }
  t.match(text, /event: missed\ndata: {"missed":2}\n\nid: 4\nevent: request\ndata: {"id":"req-00000004"/);
  const bad = await admin('GET', '/requests/stream', undefined, { headers: { 'last-event-id': 'req-00000001' } });
  t.match(bad, { status: 400, json: { detail: /^Last-Event-ID must be/ } });
});

t.test('every list of requests has the number of requests that the journal dropped', async (t) => {
  const { admin, call, emulator, url } = await startAdmin(t, { limits: { maxJournal: 3 } });
  const text = async (query: string) => {
    const response = await fetch(`${url}/_emulator/requests${query}`);
    const { headers } = response;
    return {
      dropped: headers.get('x-emulator-dropped'),
      type: headers.get('content-type'),
      text: await response.text(),
    };
  };
  await call('GET', '/api/repos');
  t.match((await admin('GET', '/requests')).json, { items: { length: 1 }, dropped: 0, last_event_id: 1 });
  t.equal(emulator.requests().dropped, 0);
  for (let at = 0; at < 4; at++) await call('GET', '/api/repos');
  for (const query of ['', '?limit=1', '?order=newest', '?status=404', '?bodies=false']) {
    t.match((await admin('GET', `/requests${query}`)).json, { dropped: 2, last_event_id: 5 }, query);
  }
  const requests = emulator.requests();
  t.equal(requests.dropped, 2);
  t.same(Object.keys(requests), ['0', '1', '2'], 'the list compares as an array');
  t.equal(emulator.requests({ status: 404 }).dropped, 2);
  t.equal((await text('?format=ndjson')).dropped, '2');
  const har = await text('?format=har');
  t.equal(har.dropped, '2');
  t.match(JSON.parse(har.text).log, { _emulator: { dropped: 2 }, entries: { length: 3 } });
  const scenario = await text('?format=scenario&operation=listRepositories');
  t.match(scenario, {
    dropped: '2',
    type: 'application/yaml',
    text: /^id: requests\nabout: .* of 3 recorded requests/,
  });
  t.match(await admin('GET', '/requests?format=scenario&operation=readFile'), {
    status: 400,
    json: { detail: /cannot become a scenario.*no request to a route/ },
  });
  await admin('DELETE', '/requests');
  t.match((await admin('GET', '/requests')).json, { items: { length: 0 }, dropped: 0, last_event_id: 5 });
});

t.test('requests are listed from either end, without bodies, and a stream continues after the list', async (t) => {
  const { admin, call, url } = await startAdmin(t);
  for (let at = 0; at < 5; at++) await call('GET', `/api/repos?limit=${at + 1}`);
  const list = async (query: string) => {
    const found: string[] = [];
    let cursor = '';
    for (;;) {
      const { json } = await admin('GET', `/requests?limit=2${query}${cursor}`);
      found.push(...json.items.map(({ query: sent }: { query: string }) => sent.slice('limit='.length)));
      if (!json.has_more) return found.join('');
      cursor = `&cursor=${encodeURIComponent(json.next_cursor)}`;
    }
  };
  t.equal(await list(''), '12345');
  t.equal(await list('&order=oldest'), '12345');
  t.equal(await list('&order=newest'), '54321');
  const { next_cursor } = (await admin('GET', '/requests?limit=2&order=newest')).json;
  t.equal((await admin('GET', `/requests?limit=2&cursor=${encodeURIComponent(next_cursor)}`)).status, 400);
  const { json } = await admin('GET', '/requests?bodies=false&order=newest');
  t.match(json.items[0], { answer: { bytes: Number, headers: Array } });
  t.notOk('body' in json.items[0].answer);
  t.ok('body' in (await admin('GET', '/requests')).json.items[0].answer);
  const lines = await (await fetch(`${url}/_emulator/requests?format=ndjson&bodies=false`)).text();
  t.notMatch(lines, /"body"/);
  for (const wrong of ['order=up', 'bodies=no']) {
    t.match(await admin('GET', `/requests?${wrong}`), { status: 400, json: { detail: new RegExp(wrong.slice(0, 5)) } });
  }
  await call('GET', '/api/meta');
  const abort = new AbortController();
  const stream = await fetch(`${url}/_emulator/requests/stream?bodies=false`, {
    headers: { 'last-event-id': `${json.last_event_id}` },
    signal: abort.signal,
  });
  let received = '';
  for await (const piece of stream.body!.pipeThrough(new TextDecoderStream())) {
    received += piece;
    if (received.includes('data:')) break;
  }
  abort.abort();
  t.match(received, /^id: 6\nevent: request\ndata: .*"path":"\/api\/meta"/m);
  t.notMatch(received, /"body"/);
});

t.test('the stream of a namespace ends when the namespace is removed', async (t) => {
  const { admin, emulator } = await startAdmin(t);
  await using namespace = await emulator.namespace();
  const stream = await request(`${namespace.adminUrl}/requests/stream`);
  await (await fetch(`${namespace.baseUrl}/nothing`)).arrayBuffer();
  let text = '';
  for await (const chunk of stream.body) {
    text += String(chunk);
    if (text.includes('/nothing')) void admin('DELETE', `/namespaces/${namespace.id}`);
  }
  t.match(text, /id: 1\nevent: request\n/);
  t.notMatch(text, /event: reset/);
});

t.test('requests are filtered and exported', async (t) => {
  const { admin, call, seed, url } = await startAdmin(t);
  await seed('r');
  for (const path of ['none', 'README.md']) await call('GET', `/api/v1/repos/file?path=${path}`, { repo: 'r' });
  const paths = async (query: string) =>
    (await admin('GET', `/requests?${query}`)).json.items.map(({ path, status }: Record<string, unknown>) => [
      path,
      status,
    ]);
  const file = '/api/v1/repos/file';
  t.same(await paths('operation=read*,getBranch'), [
    [file, 404],
    [file, 200],
  ]);
  t.same(await paths('operation=readFile&status=4xx,500'), [[file, 404]]);
  t.same(await paths('code=not_found&outcome=complete&origin=real'), [[file, 404]]);
  t.same(await paths('git.phase=rpc'), []);
  t.same(await paths('failed=true'), [[file, 404]]);
  t.same(await paths('userAgent=nobody/*'), []);
  const slowest: { id: string; duration: number }[] = [];
  for (let cursor = ''; slowest.length === 0 || cursor !== ''; ) {
    const part = (await admin('GET', `/requests?order=slowest&limit=2${cursor}`)).json;
    slowest.push(...part.items);
    cursor = part.has_more ? `&cursor=${part.next_cursor}` : '';
  }
  t.equal(new Set(slowest.map(({ id }) => id)).size, (await admin('GET', '/requests')).json.items.length);
  t.same(
    slowest.map(({ duration }) => duration),
    slowest.map(({ duration }) => duration).sort((a, b) => b - a),
  );
  const groups = async (query: string) => (await admin('GET', `/requests/groups?${query}`)).json;
  t.match(await groups('failed=true'), {
    items: [{ count: 1, last: /^req-/, values: { status: 404, code: 'not_found', operation: 'readFile' } }],
    next_cursor: null,
    has_more: false,
  });
  t.match((await groups('by=operation&status=200,404')).items, [{ count: 2, values: { operation: 'readFile' } }]);
  const parts = await groups('by=status,operation&limit=1');
  t.match(parts, { items: [{}], has_more: true });
  const rest = await groups(`by=status,operation&cursor=${parts.next_cursor}`);
  t.notSame(rest.items[0], parts.items[0]);
  t.match(await admin('GET', '/requests/groups?by=colour'), {
    status: 400,
    json: { detail: /^by: "colour" must be one of organization, / },
  });
  for (const [query, detail] of [
    ['operation=readfile', /^operation.*"readfile"/],
    ['status=600', /^status/],
    ['git.phase=x', /^git\.phase/],
    ['git.x=1', /"git\.x"/],
    ['failed=maybe', /^failed: must be true or false/],
    ['order=fastest', /^order: must be oldest, newest or slowest/],
    ['format=xml', /^format: must be json, ndjson, har or scenario/],
    ['since=today', /^since/],
  ] as const) {
    t.match(await admin('GET', `/requests?${query}`), { status: 400, json: { detail } }, query);
  }
  const ndjson = await request(`${url}/_emulator/requests?format=ndjson`);
  t.match(ndjson.headers, { 'content-type': 'application/x-ndjson' });
  const lines = (await ndjson.body.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.same(lines, (await admin('GET', '/requests')).json.items);
  const har = await admin('GET', '/requests?format=har&operation=readFile');
  t.equal(har.json.log.entries.length, 2);
  t.equal(har.json.log.version, '1.2');
});

t.test('repositories are shown whatever their state', async (t) => {
  const { admin, seed, commit, call } = await startAdmin(t);
  const commitOid = await seed('team/app', { 'a.txt': 'a\n', 'd/b.bin': Buffer.from([0, 255]) });
  await commit('team/app', { 'c.txt': 'c\n' });
  await seed('gone');
  await call('DELETE', '/api/repos/gone', { repo: 'gone' });
  await admin('PATCH', '/state', { repositories: { 'team/app': { state: 'archived' } } });
  const list = (await admin('GET', '/repositories')).json.items;
  t.match(list, [
    { name: 'team/app', state: 'archived', default_branch: 'main', refs: 1 },
    { name: 'gone', state: 'deleted', refs: 0, head: null },
  ]);
  const base = '/repositories/team%2Fapp';
  t.same((await admin('GET', base)).json, list[0]);
  t.same((await admin('GET', `${base}/state`)).json, { state: 'archived' });
  const refs = (await admin('GET', `${base}/refs`)).json.items;
  t.match(refs, [{ name: 'refs/heads/main', type: 'commit', oid: list[0].head }]);
  t.same((await admin('GET', `${base}/refs?prefix=refs/tags/`)).json.items, []);
  const first = (await admin('GET', `${base}/commits?limit=1`)).json;
  t.match(first, { items: [{ sha: list[0].head }], has_more: true });
  const second = (await admin('GET', `${base}/commits?limit=1&cursor=${first.next_cursor}`)).json;
  t.match(second, { items: [{ sha: commitOid, parent_shas: [] }], has_more: false, next_cursor: null });
  t.match((await admin('GET', `${base}/commits?ref=main~1`)).json.items, [{ sha: commitOid }]);
  const tree = (await admin('GET', `${base}/tree/${commitOid}`)).json.items;
  t.match(tree, [
    { name: 'a.txt', mode: '100644', type: 'blob', size: 2 },
    { name: 'd', mode: '040000', type: 'tree', size: null },
  ]);
  t.match((await admin('GET', `${base}/blob/${tree[0].oid}`)).json, {
    size: 2,
    encoding: 'utf-8',
    content: 'a\n',
    is_truncated: false,
  });
  const [{ oid }] = (await admin('GET', `${base}/tree/${tree[1].oid}`)).json.items;
  t.match((await admin('GET', `${base}/blob/${oid}`)).json, { encoding: 'base64', content: 'AP8=' });
  for (const [path, status] of [
    ['/repositories/none', 404],
    [`${base}/commits?ref=none`, 404],
    [`${base}/tree/x`, 400],
    [`${base}/tree/${'0'.repeat(40)}`, 404],
    [`${base}/tree/${oid}`, 404],
    [`${base}/blob/${tree[1].oid}`, 404],
    ['/repositories/gone/commits', 404],
    ['/repositories/team/app', 404],
  ] as const)
    t.match(await admin('GET', path), { status }, path);
});

t.test('the last of several repositories that had the same name is shown', async (t) => {
  const { admin, seed, call } = await startAdmin(t);
  await seed('r');
  await call('DELETE', '/api/repos/r', { repo: 'r' });
  await seed('r');
  const { items } = (await admin('GET', '/repositories')).json;
  t.match(items, [{ name: 'r', state: 'active' }]);
  t.equal(items.length, 1);
  t.same((await admin('GET', '/repositories/r')).json, items[0]);
});

t.test('a large blob is truncated', async (t) => {
  const { admin, seed } = await startAdmin(t);
  const commit = await seed('r', { 'large.txt': 'x'.repeat(1024 * 1024 + 1) });
  const [{ oid }] = (await admin('GET', `/repositories/r/tree/${commit}`)).json.items;
  const { json } = await admin('GET', `/repositories/r/blob/${oid}`);
  t.match({ ...json, content: json.content.length }, { size: 1024 * 1024 + 1, is_truncated: true, encoding: 'base64' });
  t.equal(Buffer.from(json.content, 'base64').length, 1024 * 1024);
});

t.test('webhooks are listed by organization, without their secrets', async (t) => {
  const { admin, call } = await startAdmin(t);
  const scopes = ['repo:write'];
  const made = await call('POST', '/api/v1/webhooks', {
    scopes,
    json: { url: 'http://127.0.0.1:9/hook', events: ['push'] },
  });
  t.equal(made.status, 201);
  await call('POST', '/api/v1/webhooks', { scopes, json: { url: 'http://127.0.0.1:9/other', secret: 'canary' } });
  const { json, text } = await admin('GET', '/webhooks?organization=demo');
  t.match(json.items, [{ id: made.json.id, url: 'http://127.0.0.1:9/hook', events: ['push'] }, { url: /other$/ }]);
  t.notMatch(text, /secret|canary/);
  const { next_cursor: cursor } = (await admin('GET', '/webhooks?limit=1')).json;
  t.match((await admin('GET', `/webhooks?limit=1&cursor=${cursor}`)).json, {
    items: [{ url: /other$/ }],
    has_more: false,
  });
  t.same((await admin('GET', '/webhooks?organization=none')).json.items, []);
});

t.test('variants are listed with their values, and changed with PATCH state', async (t) => {
  const { admin } = await startAdmin(t, { variants: { thawing: '503' } });
  const find = async (wanted: string) =>
    (await admin('GET', '/variants')).json.items.find(({ name }: { name: string }) => name === wanted);
  t.match(await find('thawing'), {
    about: /restored/,
    values: ['endpoint-table', '409', '503'],
    value: '503',
    default: 'endpoint-table',
  });
  t.match(await admin('PATCH', '/state', { variants: { thawing: '409' } }), { status: 200 });
  t.match(await find('thawing'), { value: '409' });
  const { variants } = (await admin('GET', '/state')).json;
  const { items } = (await admin('GET', '/variants')).json;
  t.same(Object.fromEntries(items.map(({ name, value }: Record<string, string>) => [name, value])), variants);
});

t.test('latches are listed as long as something waits for them', async (t) => {
  const { admin, call, seed } = await startAdmin(t, { inbandFaults: true });
  await seed('r');
  const list = async () => (await admin('GET', '/latches')).json.items;
  t.same(await list(), []);
  const responses = ['gate', 'gate', 'other'].map((latch) =>
    call('GET', '/api/v1/repo', { repo: 'r', headers: { 'x-emulator-fault': `hold;latch=${latch}` } }),
  );
  while ((await list()).length < 2 || (await list())[0].waiting < 2)
    await new Promise((resolve) => setImmediate(resolve));
  t.same(
    (await list()).sort((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)),
    [
      { name: 'gate', waiting: 2 },
      { name: 'other', waiting: 1 },
    ],
  );
  for (const name of ['gate', 'other']) await admin('POST', `/latches/${name}/release`);
  await Promise.all(responses);
  t.same(await list(), []);
});

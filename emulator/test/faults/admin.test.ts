import t from 'tap';
import { startAdmin } from '../admin/admin-service.js';

t.test('faults are added, shown, changed, replaced and removed', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('r');
  const read = () => call('GET', '/api/v1/repo', { repo: 'r' });
  t.match(await admin('GET', '/faults'), { status: 200, json: { items: [], has_more: false, next_cursor: null } });
  const outage = { match: { op: 'getRepository' }, when: { times: 2 }, do: { error: { code: 'bad_gateway' } } };
  const added = await admin('POST', '/faults', outage);
  t.match(added, { status: 201, json: { id: 'fault-1', source: 'registered', fired: 0, remaining: 2 } });
  t.match(await read(), { status: 502, headers: { 'x-emulator-fault-fired': 'fault-1' } });
  t.match((await admin('GET', '/faults/fault-1')).json, { matched: 1, fired: 1, remaining: 1, requestIds: [/^req-/] });
  t.match(await admin('PATCH', '/faults/fault-1', { when: { times: 1 } }), { status: 200, json: { remaining: 0 } });
  t.equal((await read()).status, 200);
  t.match((await admin('PATCH', '/faults/fault-1', { enabled: 'no' })).json, { detail: /^enabled: .*boolean/ });
  const limit = { when: { times: 2 } };
  t.match((await admin('PATCH', '/faults/fault-1', { ...limit, enabled: false })).json, { enabled: false, fired: 1 });
  t.equal((await read()).status, 200);
  t.match((await admin('GET', '/faults')).json.items, [{ id: 'fault-1', enabled: false, fired: 1, remaining: 1 }]);
  t.match((await admin('PATCH', '/faults/fault-1', { enabled: true })).json, { enabled: true, fired: 1, matched: 2 });
  t.equal((await read()).status, 502);
  const spec = { spec: 'repository_thawing*1;retry-after=9', id: 'cold', match: { op: 'get*' } };
  t.match(await admin('POST', '/faults', spec), { status: 201, json: { id: 'cold', when: { times: 1 } } });
  t.match(await read(), { status: 409, headers: { 'retry-after': '9', 'x-emulator-fault-fired': 'cold' } });
  t.match(await admin('POST', '/faults', spec), { status: 409, json: { code: 'conflict' } });

  const { headers } = await admin('GET', '/faults');
  const replacement = { faults: [{ spec: 'internal_error' }] };
  const put = (etag: string) => admin('PUT', '/faults', replacement, { headers: { 'if-match': etag } });
  t.equal((await put('"0"')).status, 412);
  t.match(await put(headers.etag!), { status: 200, json: { items: [{ id: 'fault-2' }] } });
  t.equal((await put(headers.etag!)).status, 412, 'which is another set now');
  t.equal((await read()).status, 500);
  t.equal((await admin('DELETE', '/faults/fault-2')).status, 204);
  t.equal((await admin('DELETE', '/faults/fault-2')).status, 404);
  t.equal((await admin('GET', '/faults/fault-2')).status, 404);
  t.equal((await admin('PATCH', '/faults/fault-2', { note: 'x' })).status, 404);
  t.equal((await read()).status, 200);

  await call('GET', '/api/v1/repo', { repo: 'r', headers: { 'x-emulator-fault': 'not_implemented*1' } });
  t.match((await admin('GET', '/faults')).json.items, [
    { id: 'not_implemented', source: 'in-band', text: 'not_implemented*1', fired: 1, remaining: 0 },
  ]);
  t.match(await admin('PATCH', '/faults/not_implemented', { enabled: false }), {
    status: 409,
    json: { detail: /cannot be changed/ },
  });
  t.equal((await admin('DELETE', '/faults/not_implemented')).status, 204);
  const disabled = await call('GET', '/api/v1/repo', {
    repo: 'r',
    headers: { 'x-emulator-fault': 'lost;enabled=false' },
  });
  t.match(disabled, { status: 400, json: { detail: /enabled: a fault in a header or token cannot be disabled/ } });
});

t.test('a fault is validated without adding it', async (t) => {
  const { admin } = await startAdmin(t);
  const match = { op: 'getRepository' };
  for (const body of [
    { spec: 'rate_limited*2+1;retry-after=3', match },
    { spec: 'cut;fraction=0.5;how=rst' },
    { do: { hold: 'gate' }, match, id: 'mine' },
  ]) {
    const { status, json } = await admin('POST', '/fault-checks', body);
    t.equal(status, 200);
    t.match(await admin('POST', '/faults', json.fault), { status: 201, json: json.fault });
    await admin('PUT', '/faults', { faults: [] });
  }
  for (const body of [{}, { spec: 'ng' }, { spec: 'cut@git.pack', match }, { spec: 'cut', id: '/' }]) {
    const { status, json } = await admin('POST', '/fault-checks', body);
    t.match(await admin('POST', '/faults', body), { status, json: { code: json.code, detail: json.detail } });
    t.equal(status, 400);
  }
  await admin('POST', '/fault-checks', { do: { hold: 'gate' }, id: 'mine' });
  t.same((await admin('GET', '/faults')).json.items, []);
});

t.test('an invalid fault, or one that could never fire, is 400 and changes nothing', async (t) => {
  const { admin } = await startAdmin(t);
  const good = { do: { error: { code: 'bad_gateway' } } };
  for (const [body, detail] of [
    [{}, /do/],
    [{ do: { error: { code: 'sold_out' } } }, /code/],
    [{ ...good, match: { op: 'getRepositories' } }, /getRepositories/],
    [{ ...good, match: { op: 'getRepository' }, at: 'git.pack' }, /git\.pack/],
    [{ ...good, at: 'lunch' }, /at/],
    [{ ...good, when: { times: 0 } }, /times/],
    [{ ...good, until: 3 }, /"until"/],
    [{ spec: 'rate_limited*0' }, /would never fire/],
    [{ spec: 'nonsense' }, /unknown fault nonsense/],
    [{ spec: 'rate_limited', at: 'auth' }, /at is not allowed together with spec/],
    [{ spec: 7 }, /spec/],
  ] as const) {
    t.match(await admin('POST', '/faults', body), { status: 400, json: { detail } }, JSON.stringify(body));
    const put = await admin('PUT', '/faults', { faults: [good, body] });
    t.match(put, { status: 400, json: { detail: /^faults\.1\b/ } }, put.text);
  }
  t.same((await admin('GET', '/faults')).json.items, []);
});

t.test('a latch holds requests and states until it is released', async (t) => {
  const { admin, call, seed } = await startAdmin(t);
  await seed('r');
  t.match(await admin('POST', '/latches/door/release', {}), { status: 200, json: { released: 0 } });
  await admin('POST', '/faults', { spec: 'hold*1;latch=door' });
  const held = call('GET', '/api/v1/repo', { repo: 'r' });
  let released = 0;
  for (let turn = 0; released === 0 && turn < 10_000; turn++) {
    released = (await admin('POST', '/latches/door/release', {})).json.released;
  }
  t.equal(released, 1);
  t.equal((await held).status, 200);
  const thawing = { repositories: { r: { state: 'thawing', ends: { signal: 'door' } } } };
  const outage = { organizations: { demo: { authentication: 'unavailable', ends: { signal: 'door' } } } };
  await admin('PATCH', '/state', { ...thawing, ...outage });
  t.match((await call('GET', '/api/v1/repo', { repo: 'r' })).json, { code: 'authentication_unavailable' });
  t.match(await admin('POST', '/latches/door/release', {}), { json: { released: 2 } });
  t.equal((await call('GET', '/api/v1/repo', { repo: 'r' })).status, 200);
});

t.test('the kinds of faults are listed with their keys and stages', async (t) => {
  const { admin } = await startAdmin(t, { forgePrefix: 'hub' });
  const { items, stages, grammar } = (await admin('GET', '/fault-kinds')).json;
  t.match([grammar, stages], [/^name\[/, { before: /before the operation has any effect/ }]);
  const kind = (wanted: string) => items.find(({ name }: { name: string }) => name === wanted);
  t.match(kind('rate_limited'), { status: 429, action: 'error', is_of_few: false, defaults: { api: 'before' } });
  t.match(kind('cut'), {
    action: 'cut',
    one_of: ['bytes', 'fraction', 'objects', 'trailer'],
    keys: [{ key: 'bytes', type: 'integer', least: 0 }, {}, { key: 'objects', narrows: [{ stages: ['git.pack'] }] }],
    defaults: { api: 'response.body', gitUploadPack: 'git.pack' },
  });
  t.notOk(kind('cut').in_band_stages.includes('headers'));
  t.match(kind('hub_app_not_configured'), { is_of_few: true });
  t.match(await admin('GET', '/fault-kinds?limit=1'), { status: 400 });
});

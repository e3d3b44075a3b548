import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { operations } from '../../api/index.js';
import { ServedHosts } from '../../http/host.js';
import { STEPS, type StepId } from '../../journal/steps.js';
import { chainOf, entryOf } from '../../pipeline/pipeline.js';
import { startAdmin } from '../admin/admin-service.js';

t.test('the listed steps equal those of the pipeline, in order', async (t) => {
  const { admin } = await startAdmin(t);
  const way = [...entryOf({ servedHosts: new ServedHosts([]) }), ...chainOf({ operations })].map(({ id }) => id);
  const others: readonly StepId[] = [
    'faults.accept',
    'faults.body',
    'faults.after',
    'faults.response.head',
    'faults.response.body',
  ];
  t.same(
    (Object.keys(STEPS) as StepId[]).filter((id) => !others.includes(id)),
    way,
  );
  t.same(
    (await admin('GET', '/steps')).json.items.map(({ id }: { id: string }) => id),
    Object.keys(STEPS),
  );
});

t.test('the journal says which step refused a request', async (t) => {
  const service = await startAdmin(t, { inbandFaults: true });
  const { admin, call, seed, token, url } = service;
  await seed('r');
  await seed('cold');
  const expired = await token({ repo: 'r', ttl: 60, now: Date.parse('2020-01-01T00:00:00Z') });
  const record = '/api/repos/r';
  const fault = (spec: string) => ({ repo: 'r', headers: { 'x-emulator-fault': spec } });
  const send = (head: string) =>
    new Promise<unknown>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', reject).end(`${head}\r\n\r\n`);
      text(socket).then(resolve, reject);
    });
  const put = (change: unknown) => admin('PATCH', '/state', change);
  const rows: readonly (readonly [StepId | undefined, () => Promise<unknown>])[] = [
    [undefined, () => call('GET', record, { repo: 'r' })],
    ['message', () => send('nonsense')],
    ['message', () => send('GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked')],
    ['target', () => call('GET', '/api/repos#x', { token: null })],
    ['host', () => call('GET', record, { repo: 'r', headers: { host: 'evil.example' } })],
    ['expectation', () => send('GET / HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\nConnection: close')],
    ['route', () => call('GET', '/nothing', { token: null })],
    ['route', () => call('PATCH', `${record}/commit`, { token: null })],
    ['arming', () => call('GET', record, fault('nonsense'))],
    ['faults.auth', () => call('GET', record, fault('bad_gateway@auth'))],
    ['credential', () => call('GET', record, { token: null })],
    ['credential', () => call('GET', record, { token: expired })],
    [
      'repository-claim',
      async () => call('GET', '/api/v1/repos/branches', { token: await token({ scopes: ['org:read'] }) }),
    ],
    ['path-claim', () => call('GET', '/api/repos/other/branches', { repo: 'r' })],
    ['scope', () => call('GET', '/api/v1/repos/branches', { repo: 'r', scopes: ['repo:write'] })],
    ['faults.quota', () => call('GET', record, fault('rate_limited'))],
    ['repository', () => call('GET', '/api/v1/repos/branches', { repo: 'none' })],
    ['faults.before', () => call('GET', record, fault('bad_gateway'))],
    ['faults.before', () => call('GET', record, fault('raw;status=418'))],
    ['faults.body', () => call('POST', '/api/v1/repos/branches/create', { ...fault('bad_gateway@body'), json: {} })],
    ['input', () => call('GET', '/api/v1/repos/branches?ephemeral=maybe', { repo: 'r' })],
    ['input', () => call('POST', '/api/v1/repos/branches/create', { repo: 'r', json: {} })],
    ['handler', () => call('GET', '/api/v1/repos/branch?name=none', { repo: 'r' })],
    ['faults.after', () => call('GET', record, fault('bad_gateway@after'))],
    ['faults.response.head', () => call('GET', record, fault('bad_gateway@response.head'))],
    [undefined, () => call('GET', record, fault('latency;ms=1'))],
    [
      'state',
      async () => {
        await put({ repositories: { cold: { state: 'archived' } } });
        return call('GET', '/api/v1/repo', { repo: 'cold' });
      },
    ],
    [
      'token-faults',
      async () => call('GET', record, { token: await token({ repo: 'r', claims: { emu: { faults: 1 } } }) }),
    ],
    [
      'faults.before',
      async () =>
        call('GET', record, { token: await token({ repo: 'r', claims: { emu: { faults: ['bad_gateway'] } } }) }),
    ],
    [
      'faults.headers',
      async () => {
        await admin('POST', '/faults', { spec: 'bad_gateway*1@headers' });
        return call('GET', record, { repo: 'r' });
      },
    ],
    [
      'quotas',
      async () => {
        await admin('PATCH', '/quotas', { quotas: { q: { capacity: 1, refill: '1/h' } } });
        await call('GET', record, { repo: 'r' });
        await admin('DELETE', '/requests');
        return call('GET', record, { repo: 'r' });
      },
    ],
    [
      'authentication',
      async () => {
        await put({ organizations: { demo: { authentication: 'unavailable' } } });
        return call('GET', record, { repo: 'r' });
      },
    ],
  ];
  for (const [id, ask] of rows) {
    await admin('DELETE', '/requests');
    await ask();
    const { items } = (await admin('GET', '/requests')).json;
    t.equal(items.length, 1);
    t.equal(items[0].stopped, id, `${id}: ${items[0].method} ${items[0].path} ${items[0].status} ${items[0].why}`);
  }
});

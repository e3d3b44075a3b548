import t, { type Test } from 'tap';
import { operations } from '../api/index.js';
import { contentRows } from './routes/content-rows.js';
import { historyRows } from './routes/history-rows.js';
import { repositoryRows } from './routes/repository-rows.js';
import type { Fixture, RouteRow, RouteRows, Sent } from './routes/row.js';
import { type Answer, type Service, startService } from './service.js';

/** Every operation, on every route, in every vocabulary: what a published client sends gets what it reads. */

const ROWS: RouteRows = { ...repositoryRows, ...historyRows, ...contentRows };
const EVERY_SCOPE = ['git:read', 'git:write', 'repo:write', 'org:read', 'deployment:read', 'deployment:write'];

async function stage(t: Test) {
  // Nothing listens there: a sync that is asked for fails in the background.
  const upstreamHost = { github: 'http://127.0.0.1:1' };
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z'), upstreamHost });
  t.teardown(() => service.emulator.close());
  return service;
}

/** Makes the repository that the rows speak of. */
async function makeFixture(service: Service, name: string): Promise<Fixture> {
  const call = async (method: string, path: string, json: unknown, headers = {}): Promise<Answer> => {
    const target = `/api/repos/${encodeURIComponent(name)}${path}`;
    const answer = await service.call(method, target, { repo: name, scopes: EVERY_SCOPE, json, headers });
    if (answer.status > 201) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer;
  };
  const first = await service.seed(name, { t: 'one\n' });
  const second = await service.commit(name, { 'a b': 'hello\n' });
  const third = await service.commit(name, { t: 'two\n' }, { target_branch: 'topic', base_branch: 'main' });
  await service.call('POST', '/api/repos', { repo: `${name}-bare` });
  await call('POST', '/branches/create', { target_branch: 'scratch', base_ref: 'main', target_is_ephemeral: true });
  await call('POST', '/tags', { name: 'v1/rc', target: first });
  const note = await call('POST', '/notes', { sha: first, note: 'noted' });
  const credential = await call('POST', '/git-credentials', { password: 'p' });
  await call('PATCH', '', { deployment: {} });
  const deployment = await call('POST', '/deployments', { ref: 'main' }, { 'idempotency-key': 'fixture' });
  const baseRepo = {
    provider: 'github',
    owner: 'acme',
    name: 'app',
    host: undefined,
    access: 'public',
    runs: 0,
  } as const;
  service.world.state.repositories.find('demo', name)!.update({ baseRepo });
  return {
    name,
    first,
    tip: second.json.commit.commit_sha,
    topic: third.json.commit.commit_sha,
    notes: note.json.new_ref_sha,
    credential: credential.json.id,
    deployment: deployment.json.id,
  };
}

function targetOf(route: string, repo: string, { credential, deployment }: Fixture, { query = {} }: Sent): string {
  const values = { repo_name: repo, tag: 'v1/rc', credential_id: credential, deployment_id: deployment };
  const path = route.replace(/\{(\w+)\}/g, (_, key: keyof typeof values) => encodeURIComponent(values[key]));
  // As clients write a query: a space is +, and a parameter with several values is repeated.
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) for (const one of [value].flat()) search.append(key, one as string);
  return search.size === 0 ? path : `${path}?${search}`;
}

function send(service: Service, row: RouteRow, route: string, fixture: Fixture, sent: Sent): Promise<Answer> {
  const { json, body, headers = {} } = sent;
  const repo = fixture.name + (row.suffix ?? '');
  return service.call(row.method, targetOf(route, repo, fixture, sent), {
    repo: row.claim ?? repo,
    scopes: row.scopes,
    // Some clients name the type of a body with every request, also where there is none.
    headers: { 'content-type': body === undefined ? 'application/json' : 'application/x-ndjson', ...headers },
    ...(json === undefined ? {} : { json }),
    ...(body === undefined ? {} : { body }),
  });
}

t.test('every operation answers on every route, in the old names and in the new ones', async (t) => {
  const service = await stage(t);
  const shared = await makeFixture(service, 'team/app');
  let count = 0;
  for (const [operation, row] of Object.entries(ROWS)) {
    const isWrite = row.scopes.some((scope) => scope.endsWith(':write'));
    await t.test(operation, async (t) => {
      for (const route of row.routes) {
        for (const [index, request] of row.sends.entries()) {
          const fixture = isWrite ? await makeFixture(service, `team/copy ${++count}`) : shared;
          const answer = await send(service, row, route, fixture, request(fixture));
          const what = `${row.method} ${route}, request ${index + 1}`;
          t.equal(answer.status, row.ok, `${what}: ${answer.text.slice(0, 300)}`);
          if (row.answers) t.match(answer.json, row.answers, what);
          const type = row.ok < 400 ? 'application/json' : 'application/problem+json';
          if (row.answers) t.equal(answer.headers['content-type'], type, what);
          if (row.headers) t.match(answer.headers, row.headers, what);
        }
      }
    });
  }
});

t.test('the table leaves out no operation', async (t) => {
  const tested = Object.values(ROWS).flatMap(({ method, routes }) => routes.map((path) => `${method} ${path}`));
  const served = operations
    .filter(({ group }) => group !== 'Git' && group !== 'Webhooks')
    .flatMap(({ routes }) => routes.map(({ method, path }) => `${method} ${path}`));
  t.same(new Set(served), new Set(tested.filter((route) => !route.startsWith('HEAD '))));
});

t.test('HEAD answers as GET does, without a body; on file metadata it is not allowed', async (t) => {
  const service = await stage(t);
  const fixture = await makeFixture(service, 'team/app');
  for (const [operation, row] of Object.entries(ROWS)) {
    if (row.method !== 'GET') continue;
    for (const route of row.routes) {
      const head = await send(service, { ...row, method: 'HEAD' }, route, fixture, row.sends[0]!(fixture));
      // RFC 9110, 14.2: there are no ranges with HEAD.
      const ok = row.ok === 206 || row.ok === 416 ? 200 : row.ok;
      t.equal(head.status, operation === 'files metadata' ? 405 : ok, route);
      t.equal(head.bytes.length, 0, `${route} without a body`);
    }
  }
});

t.test('a token with every scope but the one that is needed does not do', async (t) => {
  const service = await stage(t);
  const fixture = await makeFixture(service, 'team/app');
  for (const [operation, row] of Object.entries(ROWS)) {
    const scopes = EVERY_SCOPE.filter((scope) => scope !== row.scopes.at(-1));
    const answer = await send(service, { ...row, scopes }, row.routes[0]!, fixture, row.sends[0]!(fixture));
    t.equal(answer.status, 403, operation);
  }
});

t.test('a name is one segment of a preferred route, and the claim has to name it too', async (t) => {
  const service = await stage(t);
  const fixture = await makeFixture(service, 'team/app');
  for (const [operation, row] of Object.entries(ROWS)) {
    const route = row.routes.find((path) => path.includes('{repo_name}'));
    if (route === undefined || row.claim !== undefined) continue;
    const sent = row.sends[0]!(fixture);
    const other = await send(service, { ...row, claim: 'other' }, route, fixture, sent);
    t.equal(other.status, 404, `${operation}: claim of another repository`);
    const split = route.replace('{repo_name}', 'team/app');
    t.equal((await send(service, row, split, fixture, sent)).status, 404, `${operation}: ${split}`);
  }
});

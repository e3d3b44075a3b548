import t from 'tap';
import { operations } from '../../api/index.js';
import { EVERY_SCOPE, makeFixture, ROWS, send, stage } from './routes/fixture.js';

/**
 * Tests every API operation on all its routes, with old and new member names. Responses must have the members that
 * published clients read.
 */

t.test('every operation responds on every route, with old and with new names', async (t) => {
  const service = await stage(t);
  const shared = await makeFixture(service, 'team/app');
  let count = 0;
  for (const [operation, row] of Object.entries(ROWS)) {
    const isWrite = row.scopes.some((scope) => scope.endsWith(':write'));
    await t.test(operation, async (t) => {
      for (const route of row.routes) {
        for (const [index, request] of row.sends.entries()) {
          const fixture = isWrite ? await makeFixture(service, `team/copy ${++count}`) : shared;
          const response = await send(service, row, route, fixture, request(fixture));
          const what = `${row.method} ${route}, request ${index + 1}`;
          t.equal(response.status, row.ok, `${what}: ${response.text.slice(0, 300)}`);
          if (row.answers) t.match(response.json, row.answers, what);
          const type = row.ok < 400 ? 'application/json' : 'application/problem+json';
          if (row.answers) t.equal(response.headers['content-type'], type, what);
          if (row.headers) t.match(response.headers, row.headers, what);
        }
      }
    });
  }
});

t.test('the table contains every operation', async (t) => {
  const tested = Object.values(ROWS).flatMap(({ method, routes }) => routes.map((path) => `${method} ${path}`));
  const served = operations
    .filter(({ group }) => group !== 'Git' && group !== 'Webhooks')
    .flatMap(({ routes }) => routes.map(({ method, path }) => `${method} ${path}`));
  t.same(new Set(served), new Set(tested.filter((route) => !route.startsWith('HEAD '))));
});

t.test('HEAD returns the response of GET without a body; file metadata does not allow HEAD', async (t) => {
  const service = await stage(t);
  const fixture = await makeFixture(service, 'team/app');
  for (const [operation, row] of Object.entries(ROWS)) {
    if (row.method !== 'GET') continue;
    for (const route of row.routes) {
      const head = await send(service, { ...row, method: 'HEAD' }, route, fixture, row.sends[0]!(fixture));
      // Expect 200 instead of 206 or 416. A server must ignore a range in a HEAD request (RFC 9110, section 14.2).
      const ok = row.ok === 206 || row.ok === 416 ? 200 : row.ok;
      t.equal(head.status, operation === 'files metadata' ? 405 : ok, route);
      t.equal(head.bytes.length, 0, `${route} without a body`);
    }
  }
});

t.test('a token with every scope except the required one is refused', async (t) => {
  const service = await stage(t);
  const fixture = await makeFixture(service, 'team/app');
  for (const [operation, row] of Object.entries(ROWS)) {
    const scopes = EVERY_SCOPE.filter((scope) => scope !== row.scopes.at(-1));
    const response = await send(service, { ...row, scopes }, row.routes[0]!, fixture, row.sends[0]!(fixture));
    t.equal(response.status, 403, operation);
  }
});

t.test('a repository name is one segment of a preferred route, and must match the repo claim', async (t) => {
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

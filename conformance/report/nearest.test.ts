import t from 'tap';
import type { Exchange } from '../http/exchange.js';
import { RequestLog } from './nearest.js';

const TOKEN = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;

function exchange(rule: string, more: Partial<Exchange> = {}): Exchange {
  return {
    rule,
    method: 'GET',
    origin: 'http://127.0.0.1:1',
    path: '/api/v1/repo',
    requestHeaders: { authorization: `Bearer ${TOKEN}` },
    recipe: { repo: 'app', scopes: ['git:read'] },
    token: TOKEN,
    status: 200,
    headers: {},
    body: Buffer.from(''),
    milliseconds: 1,
    injected: false,
    git: false,
    ...more,
  };
}

const NOW = 1_700_000_000;
const anything = () => true;

/**
 * Finds the rule in `others` whose request is most similar to the request `failed`. Returns this rule's id and the
 * differences between the two requests. All rules in `others` passed.
 */
function nearest(failed: Exchange, others: readonly Exchange[], expected?: unknown) {
  const log = new RequestLog(() => NOW * 1000);
  for (const other of others) log.see(other);
  const { rule, differs } = log.nearestTo(failed, anything, expected) ?? {};
  return [rule, ...(differs ?? [])];
}

t.test('the request with the fewest differences is the nearest', async (t) => {
  const failed = exchange('x', { recipe: { repo: 'app', scopes: ['git:write'] }, path: '/api/v1/repo?a=1' });
  const near = exchange('near', { path: '/api/v1/repo?a=1' });
  const far = exchange('far', { requestHeaders: { authorization: 'Bearer x', accept: '*/*' } });
  t.same(nearest(failed, [far, near]), ['near', 'token scopes: ["git:write"], there ["git:read"]']);
});

t.test('among equally near requests, one with the expected response comes first, then a successful one', async (t) => {
  const [refused, moved, done] = [403, 302, 200].map((status) => exchange(`is ${status}`, { status })) as [
    Exchange,
    Exchange,
    Exchange,
  ];
  const failed = exchange('x', { path: '/api/v1/repo?a=1' });
  t.equal(nearest(failed, [refused, moved, done], '403 forbidden')[0], 'is 403');
  t.equal(nearest(failed, [refused, moved, done], [200, 201])[0], 'is 200');
  t.equal(nearest(failed, [moved, done], 'something else')[0], 'is 200');
  t.equal(nearest(failed, [refused, done], '2xx')[0], 'is 200');
});

t.test('only requests of the same operation are compared, regardless of names in the path', async (t) => {
  const failed = exchange('x', { path: '/api/repos/a%2Fb/branches', recipe: { repo: 'a/b' } });
  const same = exchange('same', { path: '/api/repos/c/branches', recipe: { repo: 'c' } });
  const others = [
    exchange('method', { method: 'POST', path: failed.path }),
    exchange('route', { path: '/api/repos/a%2Fb/tags', recipe: { repo: 'a/b' } }),
  ];
  t.same(nearest(failed, [...others, same]), ['same', 'repository: a/b, there c']);
  t.same(nearest(failed, others), [undefined]);
  const git = (service: string) =>
    exchange(service, { path: `/a/b.git/info/refs?service=git-${service}-pack`, git: true });
  t.same(nearest(git('upload'), [git('receive')]), [undefined], 'a fetch is no push');
});

t.test('a path that names another repository than the token is a difference', async (t) => {
  const failed = exchange('x', { path: '/api/repos/other/branches' });
  const own = exchange('own', { path: '/api/repos/app/branches' });
  t.same(nearest(failed, [own]), ['own', "repository in the path: other, there the token's"]);
});

t.test('differences in claims, headers, parameters and body members are listed, with relative times', async (t) => {
  const body = (value: unknown) => Buffer.from(JSON.stringify(value));
  const failed = exchange('x', {
    method: 'POST',
    path: '/api/v1/repos/grep?limit=5&limit=6',
    recipe: { repo: 'app', scopes: ['git:read'], defect: 'tampered', claims: { exp: NOW - 60 }, header: { kid: 'k' } },
    requestHeaders: { authorization: 'bearer x', 'Content-Type': 'text/plain' },
    requestBody: body({ query: { pattern: 'a', flags: [1] } }),
  });
  const other = exchange('other', {
    method: 'POST',
    path: '/api/v1/repos/grep',
    requestBody: body({ query: { pattern: 'b' }, more: true }),
  });
  t.same(nearest(failed, [other]), [
    'other',
    'query limit: "5" "6", there none',
    'authorization: bearer, there Bearer',
    'token defect: "tampered", there none',
    'token claim exp: {"from_now":-60}, there none',
    'token header kid: "k", there none',
    'header content-type: text/plain, there none',
    'body.query.pattern: "a", there "b"',
    'body.query.flags: [1], there none',
    'body.more: none, there true',
  ]);
});

t.test('NDJSON is compared line by line, other bodies as a whole', async (t) => {
  const send = (rule: string, text: string | Buffer) => exchange(rule, { requestBody: Buffer.from(text as string) });
  t.same(nearest(send('x', '{"a":1}\n{"b":2}\n'), [send('other', '{"a":1}\n{"b":3}\n')]), [
    'other',
    'body line 2.b: 2, there 3',
  ]);
  t.match(nearest(send('x', 'abc'), [send('other', 'ab')]), ['other', /^body: 3 bytes .*, there 2 bytes/]);
});

t.test('a request without a token has no nearest request', async (t) => {
  const failed = exchange('x', { requestHeaders: {} });
  const { recipe: _recipe, token: _token, ...anonymous } = failed;
  t.same(nearest(anonymous, [exchange('other')]), ['other', 'authorization: none, there Bearer']);
});

t.test('requests of the rule itself and of broken rules are not candidates', async (t) => {
  const log = new RequestLog(() => 0);
  log.see(exchange('x'));
  log.see(exchange('broken'));
  t.equal(
    log.nearestTo(exchange('x'), (rule) => rule !== 'broken', undefined),
    undefined,
  );
});

t.test('differences contain no secrets, and long values are shortened', async (t) => {
  const members = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`m${at}`, TOKEN]));
  const failed = exchange('x', { requestBody: Buffer.from(JSON.stringify(members)), path: `/api/v1/repo?t=${TOKEN}` });
  const seen = nearest(failed, [exchange('other')]);
  t.notMatch(JSON.stringify(seen), TOKEN);
  t.equal(seen.length, 1 + 12 + 1);
  t.equal(seen.at(-1), 'and 39 more');
});

t.test('the number of kept requests is limited', async (t) => {
  const log = new RequestLog(() => 0);
  for (let at = 0; at < 5000; at += 1) log.see(exchange(`rule ${at}`, { path: `/api/v1/repo?n=${at}` }));
  t.equal(log.nearestTo(exchange('x', { path: '/api/v1/repo?n=4999' }), anything, undefined)?.differs.length, 1);
});

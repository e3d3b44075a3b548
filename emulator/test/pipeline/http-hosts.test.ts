import t, { type Test } from 'tap';
import type { GivenOptions } from '../../config/options.js';
import { type RawResponse, sendRaw } from '../raw-http.js';
import { type Service, startService } from '../service.js';

// Tests how the server finds the target host: from the header `Host`, or from an absolute-form target. Also tests the
// guard that protects the emulator's own routes.

async function setUp(t: Test, options: GivenOptions = {}) {
  const service = await startService(options);
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  const token = await service.token({ repo: 'team/app' });
  const ask = async (line: string, fields: string): Promise<RawResponse> =>
    (await sendRaw(service, `${line}\r\n${fields}\r\n`, 1)).responses[0]!;
  return { service, ask, authorization: `Authorization: Bearer ${token}\r\n` };
}

/** One path per kind of route: a route of the service, routes of the emulator itself, and unknown routes of both. */
const PATHS = ['/api/v1/repo', '/_emulator/health', '/_emulator/version', '/_emulator/nothing', '/nothing'];

/**
 * Returns an error response and its expected shape. A response to HEAD has an empty body. Responses of the emulator's
 * own routes have no request id.
 */
function problemAndShape({ status, headers, body }: RawResponse, expected: number, code: string) {
  const shape = {
    status: expected,
    headers: {
      'content-type': /^application\/problem\+json$/,
      'x-request-id': headers['cache-control'] === 'no-store' ? undefined : /^req-\d{8}$/,
    },
    body: body === '' ? undefined : { status: expected, code },
  };
  return [{ status, headers, body: body === '' ? undefined : JSON.parse(body) }, shape] as const;
}

function isProblem(t: Test, response: RawResponse, status: number, code: string, what: string): void {
  t.match(...problemAndShape(response, status, code), what);
}

t.test('a Host that is malformed is refused, on every route', async (t) => {
  const { ask } = await setUp(t, { allowedHost: ['build.example'] });
  for (const host of [
    '',
    ' ',
    '[::1]evil.example',
    '[::1]x:80',
    '[::1',
    '::1',
    '::1]',
    '[]',
    '[localhost]',
    '[127.0.0.1]',
    '[::1%25lo]',
    '[::1%lo]',
    '[::1]]',
    '[[::1]]',
    '[v1]',
    '127.0.0.1:evil',
    '127.0.0.1:80:80',
    '127.0.0.1:-1',
    '127.0.0.1:+1',
    '127.0.0.1:0x50',
    '127.0.0.1: 80',
    '127.0.0.1:99999',
    '127.0.0.1:65536',
    '127.0.0.1:1e3',
    ':80',
    ':',
    'localhost:80@evil',
    'user@localhost',
    'user:pass@localhost',
    '@localhost',
    'localhost@',
    'localhost/..',
    'localhost/',
    'localhost?x',
    'localhost#x',
    'localhost\\x',
    'http://localhost',
    'local host',
    'localhost\tx',
    'localhost%',
    'localhost%2',
    'localhost%zz',
    '"localhost"',
    '<localhost>',
    'localhost|x',
    'localhost^x',
    'localhost{x}',
    'lo\u00e9calhost',
    'build.example:x',
  ]) {
    for (const path of PATHS)
      isProblem(t, await ask(`GET ${path} HTTP/1.1`, `Host: ${host}\r\n`), 400, 'bad_request', host);
  }
});

t.test('a Host that is well-formed but not served is refused, on every route', async (t) => {
  const { ask } = await setUp(t, { allowedHost: ['build.example', 'Other.Example.'] });
  for (const host of [
    'evil.example',
    'evil.example:80',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost,evil.example',
    'evil.example,localhost',
    'evil.example,.localhost',
    'a=b.localhost',
    'x%2elocalhost',
    'localhost%00',
    '%6cocalhost',
    'localhost..',
    '.localhost',
    'a..localhost',
    '.',
    '..',
    '127.1',
    '127.0.0.256',
    '127.0.0.1..',
    '0127.0.0.1',
    '2130706433',
    '128.0.0.1',
    '[::2]',
    '[::ffff:8.8.8.8]',
    '[v1.x]',
    'xbuild.example',
    'x.build.example',
    'build.example.evil',
    'api.nobody.evil',
  ]) {
    for (const path of PATHS)
      isProblem(t, await ask(`GET ${path} HTTP/1.1`, `Host: ${host}\r\n`), 403, 'forbidden', host);
  }
});

t.test('a served Host may have every spelling that RFC 9110 allows', async (t) => {
  const { ask, authorization } = await setUp(t, { allowedHost: ['Build.Example.', '[::5]'] });
  for (const host of [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'localhost:',
    'localhost:0',
    'localhost:65535',
    'localhost:00080',
    '127.0.0.1',
    '127.0.0.1:1',
    '127.255.255.254',
    '[::1]',
    '[::1]:',
    '[::1]:8080',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]:80',
    'x.localhost:9',
    'a.b-c.localhost',
    'API.Demo.LocalHost.',
    'build.example',
    'BUILD.example.:80',
    '[::5]:80',
    '[0:0::5]',
  ]) {
    t.equal((await ask('GET /api/v1/repo HTTP/1.1', `Host: ${host}\r\n${authorization}`)).status, 200, host);
    t.equal((await ask('GET /_emulator/health HTTP/1.1', `Host:${host}\t \r\n`)).status, 200, host);
    t.equal((await ask('GET /_emulator/version HTTP/1.1', `hOsT:   ${host}\r\n`)).status, 200, host);
  }
});

t.test('no Host, and more than one', async (t) => {
  const { ask, authorization, service } = await setUp(t);
  for (const path of PATHS) {
    isProblem(t, await ask(`GET ${path} HTTP/1.1`, authorization), 400, 'bad_request', `${path} without a Host`);
    for (const second of ['localhost', 'evil.example', '']) {
      for (const version of ['HTTP/1.1', 'HTTP/1.0']) {
        const twice = await ask(`GET ${path} ${version}`, `Host: localhost\r\nHOST: ${second}\r\n${authorization}`);
        isProblem(t, twice, 400, 'bad_request', `${path} ${version} with two`);
      }
    }
  }
  const { responses } = await sendRaw(
    service,
    `GET /api/v1/repo HTTP/1.1\r\n\r\nGET /api/v1/repo HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`,
    2,
  );
  t.match(
    responses,
    [{ status: 400, headers: { connection: 'keep-alive' } }, { status: 200 }],
    'the connection is kept',
  );
  // Send HTTP/1.0 requests without `Host`, because only HTTP/1.1 requires it (RFC 9112, section 3.2). The port then
  // determines the organization (section 3.3).
  const old = await ask('GET /api/v1/repo HTTP/1.0', authorization);
  t.match(old, { status: 200, headers: { connection: 'close' } });
  t.match(await ask('GET /_emulator/health HTTP/1.0', ''), { status: 200, body: /"organization":"demo"/ });
  isProblem(t, await ask('GET /api/v1/repo HTTP/1.0', 'Host: evil.example\r\n'), 403, 'forbidden', 'HTTP/1.0, foreign');
  isProblem(t, await ask('GET /api/v1/repo HTTP/1.0', 'Host:\r\n'), 400, 'bad_request', 'HTTP/1.0, empty');
});

t.test('the authority of an absolute-form target takes the place of Host', async (t) => {
  const { ask, authorization } = await setUp(t, { org: ['demo', 'other'] });
  const host = 'Host: localhost\r\n';
  const get = (target: string, fields = host) => ask(`GET ${target} HTTP/1.1`, `${fields}${authorization}`);
  for (const origin of ['http://127.0.0.1:8080', 'HTTP://localhost', 'http://[::1]:', 'http://api.demo.localhost:1']) {
    t.equal((await get(`${origin}/api/v1/repo`)).status, 200, origin);
    t.equal((await get(`${origin}/_emulator/version`)).status, 200, origin);
    t.equal((await get(`${origin}/_emulator/health`)).status, 200, origin);
    t.equal((await get(`${origin}/api/v1/repos/file?path=README.md`)).status, 200, 'with a query');
    isProblem(t, await get(origin), 404, 'route_not_found', `${origin}: no path is /`);
    isProblem(t, await get(`${origin}?x=/api/v1/repo`), 404, 'route_not_found', `${origin}: a query alone`);
    isProblem(t, await get(`${origin}//api/v1/repo`), 400, 'bad_request', 'two slashes');
  }
  const named = await get('http://127.0.0.1/nothing');
  t.equal(JSON.parse(named.body).instance, '/nothing', 'the path is what counts');
  t.match(await get('http://api.other.localhost/_emulator/health'), { body: /"organization":"other"/ });
  t.match(await get('http://localhost/_emulator/health', 'Host: api.other.localhost\r\n'), {
    body: /"organization":"demo"/,
  });
  t.equal((await get('http://localhost/api/v1/repo', 'Host: evil.example\r\n')).status, 200, 'Host is not looked at');
  for (const path of PATHS) {
    for (const origin of ['http://evil.example', 'http://localhost.evil.example:80', 'http://a,b.localhost']) {
      isProblem(t, await get(`${origin}${path}`), 403, 'forbidden', `${origin}${path}`);
    }
    for (const origin of [
      'https://127.0.0.1',
      'ftp://127.0.0.1',
      'file://localhost',
      'ws://localhost',
      'http:',
      'http://',
      'http://:80',
      'http://user@127.0.0.1',
      'http://user:pass@127.0.0.1',
      'http://@127.0.0.1',
      'http://127.0.0.1:x',
      'http://127.0.0.1:99999',
      'http://[::1]evil',
      'http://[::1',
      'http://localhost%',
      'http://localhost\\',
      'http:\\\\localhost',
      'localhost:80',
      'localhost',
    ]) {
      isProblem(t, await get(`${origin}${path}`), 400, 'bad_request', `${origin}${path}`);
    }
    isProblem(t, await get(`http://localhost${path}#x`), 400, 'bad_request', `${path} with a fragment`);
    isProblem(t, await get(`http://localhost${path}`, 'Host: a b\r\n'), 400, 'bad_request', 'Host must be valid');
    isProblem(t, await get(`http://localhost${path}`, ''), 400, 'bad_request', 'Host must be there');
    isProblem(t, await get(`http://localhost${path}`, `${host}${host}`), 400, 'bad_request', 'Host must be one');
  }
});

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'SEARCH'];
const OWN = ['/_emulator/health', '/_emulator/version', '/_emulator/openapi.json', '/_emulator/webhooks/outbox'];
/** Path of the emulator's web page, and the path without slash that redirects to it. */
const PAGE = ['/_emulator', '/_emulator/'];

const NO_ROUTES = [
  '/_emulator/nothing',
  '/_emulator/version/',
  '/_emulator/health/',
  '/_emulator//version',
  '/_emulator/./version',
  '/_emulator/../api/v1/repo',
  '/_emulator/%2e%2e/api/v1/repo',
  '/_emulator/Version',
  '/_emulator/%76ersion',
  '/_emulator/%zz',
  '/_EMULATOR/version',
  '/%5femulator/version',
  '/%5Femulator%2fversion',
  '/_emulator%2Fversion',
  '/api/../_emulator/version',
  '/api/%2E%2e/_emulator/health',
  '/./_emulator/version',
  '/api//..//_emulator/version',
];

t.test('below /_emulator the guard checks every method, spelling and path first', async (t) => {
  const { ask, service } = await setUp(t);
  const lastBefore = service.emulator.requests().at(-1)!.id;
  const host = 'Host: localhost\r\n';
  const pages = [
    `${host}Origin: http://evil.example\r\n`,
    `${host}Origin: null\r\n`,
    `${host}Origin:\r\n`,
    `${host}Sec-Fetch-Site: cross-site\r\n`,
    `${host}Sec-Fetch-Site: same-site\r\n`,
    `${host}Sec-Fetch-Site: Cross-Site\r\n`,
    `${host}Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n`,
    'Host: evil.example\r\n',
  ];
  for (const path of [...OWN, ...PAGE, ...NO_ROUTES]) {
    for (const method of METHODS) {
      const requests = pages.map((fields) => `${method} ${path} HTTP/1.1\r\n${fields}\r\n`);
      const { responses } = await sendRaw(service, requests.join(''), pages.length);
      const seen = responses.map((response) => problemAndShape(response, 403, 'forbidden'));
      t.equal(responses.length, pages.length);
      t.match(
        seen.map(([response], at) => ({ ...response, request: requests[at]! })),
        seen.map(([, shape], at) => ({ ...shape, request: requests[at]! })),
        `${method} ${path}`,
      );
    }
  }
  for (const path of NO_ROUTES) {
    for (const method of METHODS) {
      isProblem(t, await ask(`${method} ${path} HTTP/1.1`, host), 404, 'route_not_found', `${method} ${path}`);
    }
  }
  for (const path of OWN) {
    const get = await ask(`GET ${path} HTTP/1.1`, host);
    t.match(get, { status: 200, headers: { 'content-type': /^application\/json/ } });
    const head = await ask(`HEAD ${path} HTTP/1.1`, host);
    t.equal(head.body, '');
    t.same({ ...head.headers, date: '' }, { ...get.headers, date: '' }, `HEAD ${path} answers like GET`);
    const status = path.endsWith('outbox') ? 400 : 200;
    t.equal(
      (await ask(`GET ${path}?x=1 HTTP/1.1`, host)).status,
      status,
      'with a query that only open routes pass over',
    );
    t.equal((await ask(`GET ${path} HTTP/1.1`, `${host}Sec-Fetch-Site: same-origin\r\n`)).status, 200);
    t.equal((await ask(`GET ${path} HTTP/1.1`, `${host}Sec-Fetch-Site: none\r\n`)).status, 200, 'typed by hand');
    for (const method of METHODS.slice(2)) {
      const response = await ask(`${method} ${path} HTTP/1.1`, host);
      isProblem(t, response, 405, 'method_not_allowed', `${method} ${path}`);
      t.equal(response.headers.allow, 'GET, HEAD', `${method} ${path}`);
    }
  }
  t.same(service.emulator.requests({ after: lastBefore }), [], 'nothing of it is in the journal');
});

t.test('health names the organization that Host selects', async (t) => {
  const { service } = await setUp(t, { org: ['demo', 'other'] });
  const organizationOf = async (index: number, host: string): Promise<string> => {
    const there: Service = { ...service, url: service.emulator.orgs[index]!.baseUrl };
    const { responses } = await sendRaw(there, `GET /_emulator/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 1);
    return JSON.parse(responses[0]!.body).organization;
  };
  t.equal(await organizationOf(0, 'localhost'), 'demo');
  t.equal(await organizationOf(0, 'api.other.localhost'), 'other');
  t.equal(await organizationOf(0, 'API.Other.Localhost.:80'), 'other');
  t.equal(await organizationOf(0, 'api.nobody.localhost'), 'demo', 'a served name that selects none');
  t.equal(await organizationOf(1, '127.0.0.1'), 'other');
  t.equal(await organizationOf(1, 'api.demo.localhost'), 'demo');
});

t.test('a health request changes neither request numbers nor a stepping clock', async (t) => {
  const { ask, service } = await setUp(t, { clock: Date.UTC(2026, 0, 1) });
  const { world } = service;
  const before = [world.state.clock.now(), [...world.state.journal.entries()].length];
  for (const path of OWN) await ask(`GET ${path} HTTP/1.1`, 'Host: localhost\r\n');
  t.same([world.state.clock.now(), [...world.state.journal.entries()].length], before);
});

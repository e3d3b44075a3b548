import t, { type Test } from 'tap';
import type { GivenOptions } from '../../config/options.js';
import { type Service, type ServiceResponse, startService } from '../service.js';

const PAGE = 'http://localhost:5173';
const OTHER = 'http://localhost:5174';

async function setUp(t: Test, options: GivenOptions): Promise<Service> {
  const service = await startService(options);
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  return service;
}

function preflight({ call }: Service, path: string, origin: string, headers: Record<string, string> = {}) {
  return call('OPTIONS', path, {
    token: null,
    headers: { origin, 'access-control-request-method': 'POST', ...headers },
  });
}

/** Returns the CORS headers of a response, without their common prefix `access-control-`. */
function corsOf({ headers }: ServiceResponse): Record<string, string> {
  const found = Object.entries(headers).filter(([name]) => name.startsWith('access-control-'));
  return Object.fromEntries(found.map(([name, value]) => [name.replace('access-control-', ''), value]));
}

/** Paths of the API and of Git remotes, and a path without a route. */
const PATHS = ['/api/v1/repo', '/api/repos', '/team/app.git/git-upload-pack', '/nothing'];

t.test('without the option, no response has CORS headers', async (t) => {
  const service = await setUp(t, {});
  for (const path of PATHS) {
    const refused = await preflight(service, path, PAGE);
    t.ok(refused.status >= 400, `${path}: the preflight is refused`);
    t.strictSame(corsOf(refused), {}, path);
  }
  const response = await service.call('GET', '/api/v1/repo', { repo: 'team/app', headers: { origin: PAGE } });
  t.equal(response.status, 200);
  t.strictSame(corsOf(response), {});
  t.equal(response.headers.vary, undefined);
});

t.test('a preflight from a listed origin is answered for every path of the service', async (t) => {
  const service = await setUp(t, { cors: [OTHER, PAGE] });
  for (const path of PATHS) {
    const response = await preflight(service, path, PAGE, {
      'access-control-request-headers': 'authorization,content-type',
    });
    t.equal(response.status, 204, path);
    t.equal(response.text, '', path);
    t.equal(response.headers.vary, 'Origin', path);
    t.strictSame(
      corsOf(response),
      {
        'allow-origin': PAGE,
        'allow-credentials': 'true',
        'allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
        'allow-headers': 'authorization,content-type',
        'max-age': '60',
      },
      path,
    );
  }
});

t.test('preflights change neither the journal nor the ids of later requests', async (t) => {
  const [one, two] = [await setUp(t, { cors: PAGE, seed: '7' }), await setUp(t, { cors: PAGE, seed: '7' })];
  await preflight(one, '/api/v1/repo', PAGE);
  const ids = await Promise.all(
    [one, two].map(async ({ call }) => (await call('GET', '/api/repos')).headers['x-request-id']),
  );
  t.equal(ids[0], ids[1]);
  const methods = Array.from(one.world.state.journal.entries(), ({ method }) => method);
  t.notOk(methods.includes('OPTIONS'));
});

t.test('responses and errors can be read by a page of a listed origin', async (t) => {
  const service = await setUp(t, { cors: PAGE });
  const cases = [
    [200, await service.call('GET', '/api/v1/repo', { repo: 'team/app', headers: { origin: PAGE } })],
    [401, await service.call('GET', '/api/v1/repo', { token: null, headers: { origin: PAGE } })],
    [404, await service.call('GET', '/nothing', { headers: { origin: PAGE } })],
    [405, await service.call('PUT', '/api/v1/repo', { headers: { origin: PAGE } })],
    [
      503,
      await service.call('GET', '/api/v1/repo', {
        repo: 'team/app',
        headers: { origin: PAGE, 'x-emulator-fault': 'service_unavailable' },
      }),
    ],
    [
      401,
      await service.call('GET', '/team/app.git/info/refs?service=git-upload-pack', {
        token: null,
        headers: { origin: PAGE },
      }),
    ],
  ] as const;
  for (const [status, response] of cases) {
    t.equal(response.status, status);
    const { 'expose-headers': exposed = '', ...rest } = corsOf(response);
    t.strictSame(rest, { 'allow-origin': PAGE, 'allow-credentials': 'true' });
    for (const name of ['X-Request-Id', 'Retry-After', 'RateLimit', 'X-Emulator-Fault-Fired']) {
      t.ok(exposed.split(',').includes(name), `${status}: ${name} can be read`);
    }
    t.equal(response.headers.vary, 'Origin');
  }
});

t.test('the journal shows the CORS headers of a response', async (t) => {
  const service = await setUp(t, { cors: PAGE });
  await service.call('GET', '/api/v1/repo', { repo: 'team/app', headers: { origin: PAGE } });
  const [entry] = await service.emulator.requests({ operation: 'getRepository' });
  t.match(JSON.stringify(entry), /access-control-allow-origin/);
});

t.test('another origin, a part of a listed one, and no origin get no access', async (t) => {
  const service = await setUp(t, { cors: PAGE });
  for (const origin of [
    OTHER,
    'http://localhost',
    'http://localhost:51730',
    'https://localhost:5173',
    'null',
    `${PAGE}/`,
  ]) {
    const refused = await preflight(service, '/api/v1/repo', origin);
    t.equal(refused.status, 405, origin);
    t.strictSame(corsOf(refused), {}, origin);
    const response = await service.call('GET', '/api/v1/repo', { repo: 'team/app', headers: { origin } });
    t.equal(response.status, 200, origin);
    t.strictSame(corsOf(response), {}, origin);
    t.equal(response.headers.vary, 'Origin', 'a cache must not use this response for another origin');
  }
  t.strictSame(corsOf(await service.call('GET', '/api/v1/repo', { repo: 'team/app' })), {});
});

t.test('* allows every origin, without credentials', async (t) => {
  const service = await setUp(t, { cors: '*' });
  for (const origin of [PAGE, OTHER, 'null']) {
    const response = await preflight(service, '/api/v1/repo', origin);
    t.equal(response.status, 204);
    t.match(corsOf(response), { 'allow-origin': '*', 'allow-credentials': undefined });
    const { 'allow-origin': allowed, 'allow-credentials': credentials } = corsOf(
      await service.call('GET', '/api/v1/repo', { repo: 'team/app', headers: { origin } }),
    );
    t.strictSame([allowed, credentials], ['*', undefined]);
  }
});

t.test('the admin API stays closed to other origins', async (t) => {
  for (const cors of [PAGE, '*']) {
    const service = await setUp(t, { cors });
    for (const path of ['/_emulator/requests', '/_emulator/health', `${service.url}/_emulator/health`]) {
      const refused = await preflight(service, path, PAGE);
      t.equal(refused.status, 403, path);
      t.strictSame(corsOf(refused), {}, path);
      const response = await service.call('GET', path, { token: null, headers: { origin: PAGE } });
      t.strictSame([response.status, corsOf(response)], [403, {}], path);
    }
  }
});

t.test('an OPTIONS request without Access-Control-Request-Method is refused as without the option', async (t) => {
  const service = await setUp(t, { cors: PAGE });
  const response = await service.call('OPTIONS', '/api/v1/repo', { token: null, headers: { origin: PAGE } });
  t.equal(response.status, 405);
});

t.test('invalid origins are refused at the start', async (t) => {
  const invalid = [
    'localhost:5173',
    'http://',
    'http://a/b',
    'http://a?x',
    'http://u@a',
    'null',
    'a b',
    `*,${PAGE}`,
    `${PAGE},${PAGE}`,
  ];
  for (const cors of invalid) await t.rejects(startService({ cors }), { message: /cors/i }, cors);
  const service = await setUp(t, { cors: 'HTTP://LocalHost:80/' });
  const response = await preflight(service, '/api/v1/repo', 'http://localhost');
  t.equal(response.status, 204, 'an origin is compared in the form that browsers send');
});

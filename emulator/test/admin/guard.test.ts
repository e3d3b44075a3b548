import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { request } from 'undici';
import { ADMIN_PREFIX } from '../../admin/path.js';
import { adminRoutes } from '../../admin/routes.js';
import type { GivenOptions } from '../../config/options.js';
import { sendRaw } from '../raw-http.js';
import { type Service, startService } from '../service.js';
import { changedParts } from '../world/world-parts.js';

// Tests the protection of the emulator's admin API. Sends every kind of forbidden request to every admin route with
// every method. The emulator must refuse all of them.

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Paths of all admin routes with values for their parameters, and one path that does not exist. */
const PATHS = [...new Set([...adminRoutes.map(({ path }) => path), '/nothing'])].map((path) => ({
  path:
    ADMIN_PREFIX +
    path
      .replace('{name}', 'team%2Fapp')
      .replace('{oid}', '0'.repeat(40))
      .replace('{id}', 'x')
      .replace('{file}', 'main.js'),
  isOpen: adminRoutes.some((route) => route.path === path && route.access === 'open'),
  // The path `/faults/forms` also matches the route `/faults/{id}`. Therefore it also has the methods of that route.
  methods: adminRoutes
    .filter((route) => route.path === path || (path === '/faults/forms' && route.path === '/faults/{id}'))
    .map(({ method }) => method as string),
}));

interface Forbidden {
  readonly headers: (own: string) => Record<string, string>;
  readonly status: 403 | 415;
}

const FORBIDDEN: Readonly<Record<string, readonly Forbidden[]>> = {
  Host: ['evil.example', '127.0.0.1.evil.example:80', 'localhost.evil.example'].map((host) => ({
    headers: () => ({ host }),
    status: 403,
  })),
  Origin: [
    'http://evil.example',
    'null',
    'http://localhost:1',
    'https://127.0.0.1',
    'http://127.0.0.1:8',
    'http://127.0.0.1@evil.example',
    'http://127.0.0.1 http://evil.example',
  ].map((origin) => ({ headers: () => ({ origin }), status: 403 })),
  site: ['cross-site', 'same-site', 'other', ''].map((site) => ({
    // Name the emulator itself in the `Origin` header. The request must still be refused, because `Sec-Fetch-Site` says
    // that it does not come from the emulator's own page.
    headers: (own) => ({ origin: own, 'sec-fetch-site': site }),
    status: 403,
  })),
  'content type': ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'x'].map(
    (type) => ({ headers: () => ({ 'content-type': type }), status: 415 }),
  ),
};

interface Setup {
  readonly name: string;
  readonly options: GivenOptions;
  /** Returns the token that requests to the admin API need. Undefined if the emulator requires none. */
  readonly tokenOf: (service: Service) => string | undefined;
}

const SETUPS: readonly Setup[] = [
  { name: 'on loopback', options: {}, tokenOf: () => undefined },
  { name: 'on loopback with a token', options: { adminToken: 'canary-admin' }, tokenOf: () => 'canary-admin' },
  {
    name: 'off loopback with a generated token',
    options: { host: '0.0.0.0' },
    tokenOf: ({ emulator }) => readFileSync(emulator.adminTokenFile!, 'utf8').trim(),
  },
  {
    name: 'off loopback with a token',
    options: { host: '0.0.0.0', adminToken: 'canary-admin' },
    tokenOf: () => 'canary-admin',
  },
];

async function start(t: Test, options: GivenOptions): Promise<Service> {
  const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z'), testKeys: true, ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  return service;
}

async function send({ url }: Service, method: string, path: string, headers: Record<string, string>) {
  const response = await request(url + path, { method: method as 'GET', headers });
  const text = await response.body.text();
  return { status: response.statusCode, headers: response.headers, text, code: codeOf(text) };
}

/** Sends requests to one path one after another, on the same connection. Returns their responses. */
async function sendAll(
  service: Service,
  path: string,
  requests: readonly { readonly method: string; readonly headers: Record<string, string> }[],
) {
  const texts = requests.map(({ method, headers }) => {
    const fields = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${path} HTTP/1.1\r\n${fields.join('')}\r\n`;
  });
  return (await sendRaw(service, texts.join(''), requests.length)).responses;
}

function codeOf(text: string): string | undefined {
  return text.startsWith('{"type"') ? JSON.parse(text).code : undefined;
}

const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  403: 'forbidden',
  415: 'unsupported_media_type',
};

for (const { name, options, tokenOf } of SETUPS) {
  t.test(`${name}, every route and method is guarded`, async (t) => {
    const service = await start(t, options);
    const before = { world: service.world, snapshot: service.world.snapshot() };
    const token = tokenOf(service);
    const own = 'http://127.0.0.1';
    const credentials: readonly (readonly [kind: 'missing' | 'wrong' | 'right', headers: Record<string, string>])[] = [
      ['missing', {}],
      ['wrong', { authorization: `Bearer ${token === undefined ? 'any' : `${token}x`}` }],
      ['wrong', { authorization: `Basic ${token ?? 'any'}` }],
      ...(token === undefined ? [] : [['right', { authorization: `bearer ${token}` }] as const]),
    ];
    let turn = 0;
    for (const { path, isOpen } of PATHS) {
      for (const method of METHODS) {
        const requests: { headers: Record<string, string>; status: number; method: string }[] = [];
        for (const [kind, authorization] of credentials) {
          const isRefused = token !== undefined && kind !== 'right' && !isOpen;
          for (const cases of Object.values(FORBIDDEN)) {
            const { headers, status } = cases[turn++ % cases.length]!;
            const refusal = status === 415 && isRefused ? 401 : status;
            requests.push({ headers: { ...authorization, ...headers(own) }, status: refusal, method });
          }
          if (isRefused) requests.push({ headers: { origin: own, ...authorization }, status: 401, method });
        }
        const preflight = { origin: own, 'access-control-request-method': method };
        requests.push({ headers: preflight, status: 403, method: 'OPTIONS' });
        const responses = await sendAll(service, path, requests);
        const seen = responses.map(({ status, headers, body }, at) => ({
          request: requests[at],
          status,
          code: codeOf(body) ?? (method === 'HEAD' ? CODES[status] : undefined),
          challenge: headers['www-authenticate'],
          revealsToken: token !== undefined && body.includes(token),
          sharing: Object.keys(headers).filter((field) => field.startsWith('access-control')),
        }));
        const expected = requests.map((each) => ({
          request: each,
          status: each.status,
          code: CODES[each.status],
          challenge: each.status === 401 ? 'Bearer' : undefined,
          revealsToken: false,
          sharing: [],
        }));
        t.same(seen, expected, `${method} ${path}`);
      }
    }
    t.ok(turn > 500, 'all combinations were sent');
    t.same(changedParts(before, service.world), [], 'nothing has changed');
  });
}

t.test('an allowed request gets a response, and a wrong method is refused with 405', async (t) => {
  const service = await start(t, { adminToken: 'a/b+c==' });
  const own = service.url;
  const right = { authorization: 'Bearer a/b+c==' };
  for (const { path, isOpen, methods } of PATHS) {
    for (const method of METHODS) {
      if (methods.includes(method) || methods.length === 0) continue;
      if (method === 'HEAD' && methods.includes('GET')) continue;
      const response = await send(service, method, path, right);
      const allow = methods.flatMap((known) => (known === 'GET' ? ['GET', 'HEAD'] : [known])).sort();
      t.match(response, { status: 405, headers: { allow: allow.join(', ') } }, `${method} ${path}`);
    }
    const status = path === ADMIN_PREFIX ? 308 : 200;
    if (isOpen) t.match(await send(service, 'GET', path, {}), { status }, `${path} requires no token`);
  }
  for (const headers of [
    { origin: own },
    { origin: own.toUpperCase().replace('HTTP', 'http'), 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { host: 'localhost:1', origin: 'http://localhost:1' },
    { host: 'api.demo.localhost', origin: 'http://api.demo.localhost:80' },
    { 'content-type': 'application/json; charset=utf-8' },
  ]) {
    t.match(await send(service, 'GET', '/_emulator/state', { ...right, ...headers }), { status: 200 }, `${headers}`);
  }
  t.match(await send(service, 'GET', '/_emulator/nothing', right), { status: 404, code: 'route_not_found' });
});

t.test('a repository token is not an admin token, and the admin token is not a repository token', async (t) => {
  const service = await start(t, { adminToken: 'canary-admin' });
  const authorization = `Bearer ${await service.token({ repo: 'team/app' })}`;
  t.match(await send(service, 'GET', '/_emulator/state', { authorization }), { status: 401 });
  const response = await send(service, 'GET', '/api/v1/repo', { authorization: 'Bearer canary-admin' });
  t.match(response, { status: 403 });
});

t.test('the generated token is readable only by its user, and is removed with the emulator', async (t) => {
  const [one, other] = await Promise.all([start(t, { host: '0.0.0.0' }), start(t, { host: '0.0.0.0' })]);
  const file = one.emulator.adminTokenFile!;
  const text = readFileSync(file, 'utf8');
  t.match(text, /^[\w-]{43}\n$/, '256 bits');
  t.not(text, readFileSync(other.emulator.adminTokenFile!, 'utf8'), 'the token is not derived from the seed');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(statSync(dirname(file)).mode & 0o777, 0o700);
  await one.emulator.close({ graceMs: 0 });
  t.throws(() => statSync(dirname(file)), { code: 'ENOENT' });
  t.equal((await start(t, {})).emulator.adminTokenFile, undefined, 'on loopback no token is generated');
});

t.test('a link on another page opens only the page and its files', async (t) => {
  const service = await start(t, { adminToken: 'secret' });
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  for (const site of ['cross-site', 'same-site']) {
    for (const path of ['/_emulator/', '/_emulator/page/main.js']) {
      const from = { 'sec-fetch-site': site };
      t.match(await send(service, 'GET', path, { ...from, ...navigation }), { status: 200 }, `${site} ${path}`);
      for (const other of [
        {},
        { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
        { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
        { ...navigation, origin: 'http://evil.example' },
        { ...navigation, host: 'evil.example' },
      ]) {
        t.match(await send(service, 'GET', path, { ...from, ...other }), { status: 403 }, JSON.stringify(other));
      }
      t.match(await send(service, 'POST', path, { ...from, ...navigation }), { status: 403 });
    }
    for (const path of ['/_emulator/health', '/_emulator/state', '/_emulator/pages', '/_emulator//page/main.js']) {
      t.match(await send(service, 'GET', path, { 'sec-fetch-site': site, ...navigation }), { status: 403 }, path);
    }
  }
});

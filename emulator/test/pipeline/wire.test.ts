import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { operations } from '../../api/index.js';
import type { GivenOptions } from '../../config/options.js';
import { packBody, type Service, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

// Tests HTTP at the socket level. A client library would normalize these requests.

async function setUp(t: Test, options: GivenOptions = {}) {
  const service = await startService(options);
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  const token = await service.token({ repo: 'team/app' });
  return { service, token, head: headOf(token) };
}

/**
 * Returns a function that builds a request line with headers. An empty value omits a default header. An array repeats
 * the header with several values.
 */
function headOf(token: string) {
  return (line: string, headers: Record<string, string | string[]> = {}): string => {
    const all = { host: 'localhost', authorization: `Bearer ${token}`, ...headers };
    const lines = Object.entries(all).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));
    return `${line} HTTP/1.1\r\n${lines.filter((text) => !text.endsWith(': ')).join('\r\n')}\r\n\r\n`;
  };
}

interface Received {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Opens a connection and lets `act` write to it. Resolves to the received bytes when the server closes the connection,
 * or when one response is complete.
 */
function talk(service: Service, act: (socket: Socket) => void): Promise<Received> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let text = '';
    const end = () => {
      socket.destroy();
      const at = text.indexOf('\r\n\r\n');
      resolve({ status: Number(text.slice(9, 12)), head: text.slice(0, at).toLowerCase(), body: text.slice(at + 4) });
    };
    socket.on('data', (data) => {
      // Remove interim responses with status 102. The server may send them to test whether a client that ended its
      // direction is still connected.
      text = `${text}${data}`.replace(/^(HTTP\/1\.1 102 Processing\r\n\r\n)+/, '');
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const at = text.indexOf('\r\n\r\n');
      if (at >= 0 && length !== undefined && text.length - at - 4 >= Number(length)) end();
    });
    socket.once('end', end);
    socket.once('error', reject);
    act(socket);
  });
}

t.test('request targets of unsupported forms are refused', async (t) => {
  const { service, head } = await setUp(t);
  const bad = [
    '/api/v1/repo#x',
    '//api/v1/repo',
    'https://127.0.0.1/api/v1/repo',
    'http://user@127.0.0.1/api/v1/repo',
    '/api\\v1\\repo',
    '/api/v1/repo?a=%00',
    '/api/v1/repo?a=%ff',
    '/api/repos/%00',
    '/api/repos/%ff',
    '/api/repos/%c0%af',
    '/api/repos/%',
    '/api/repos/%2',
    '/api/repos/%zz',
    '*',
    '/café',
    '/api/v1/repo\x7f',
  ];
  for (const target of bad) {
    const response = await talk(service, (socket) => socket.write(Buffer.from(head(`GET ${target}`), 'latin1')));
    t.equal(response.status, 400, target);
    t.match(response.head, /content-type: application\/problem\+json/, target);
  }
  for (const target of [
    '/api/./v1/repo',
    '/api/../api/v1/repo',
    '/api/v1/repo/',
    '/api/v1/repo/..',
    '/API/v1/repo',
    '/api/v1/%2e%2e/v1/repo',
    '/api%2Fv1%2Frepo',
    '/api/v1//repo',
    '/',
  ]) {
    const response = await talk(service, (socket) => socket.write(head(`GET ${target}`)));
    t.match(response, { status: 404, body: /route_not_found/ }, `${target} is no other name of a route`);
  }
  t.equal((await talk(service, (socket) => socket.write(head('GET /api/v1/repo')))).status, 200);
});

t.test('headers: too many bytes, missing, sent twice', async (t) => {
  const { service, head, token } = await setUp(t);
  const ask = (headers: Record<string, string | string[]>, line = 'GET /api/v1/repo') =>
    talk(service, (socket) => socket.write(head(line, headers)));
  t.match(await ask({ 'x-long': 'x'.repeat(20_000) }), { status: 431, body: /request_header_fields_too_large/ });
  t.match(await ask({ authorization: `Bearer ${'x'.repeat(1_000_000)}` }), { status: 431 });
  const many = (count: number) => ({ 'x-many': Array.from({ length: count }, () => 'x') });
  t.equal((await ask(many(98))).status, 200, 'a hundred headers');
  for (const count of [99, 500, 1_100]) t.equal((await ask(many(count))).status, 431, `${count} and two headers`);
  t.equal((await ask({ host: '' })).status, 400, 'no Host');
  t.equal((await ask({ host: ['localhost', 'localhost'] })).status, 400, 'two Hosts');
  t.equal((await ask({ host: ['localhost', 'evil.example'] })).status, 400);
  t.equal((await ask({ authorization: [`Bearer ${token}`, `Bearer ${token}`] })).status, 400, 'two credentials');
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '[::2]', 'evil.example:80']) {
    t.match(await ask({ host }), { status: 403, body: /"forbidden"/ }, host);
  }
  t.equal((await ask({ host: '@localhost' })).status, 400, 'a Host that is malformed');
  for (const host of ['LOCALHOST', 'localhost.', 'api.demo.localhost', '127.0.0.1:1', '[::1]:8080', 'x.localhost:9']) {
    t.equal((await ask({ host })).status, 200, host);
  }
  t.equal((await ask({ 'content-length': ['1', '2'] }, 'POST /api/v1/repos/grep')).status, 400);
  t.equal(
    (await ask({ 'content-length': '5', 'transfer-encoding': 'chunked' }, 'POST /api/v1/repos/grep')).status,
    400,
  );
  t.equal((await ask({}, 'GARBAGE /')).status, 400, 'a method that is none');
});

t.test('a client that closed its sending side after the request gets its response', async (t) => {
  const { service, head } = await setUp(t);
  const body = packBody({ a: 'a' });
  const whole = head('POST /api/v1/repos/commit-pack', { 'content-length': String(Buffer.byteLength(body)) }) + body;
  t.equal((await talk(service, (socket) => socket.end(whole))).status, 201);
  const before = stateDigest(service.world);
  const cut = await talk(service, (socket) => socket.end(whole.slice(0, -20)));
  t.ok([0, 400, 499].includes(cut.status), `half a body has no effect: ${cut.status}`);
  t.equal(stateDigest(service.world), before);
  const read = await talk(service, (socket) => socket.end(head('GET /api/v1/repo')));
  t.equal(read.status, 200);
});

t.test('the response to invalid HTTP follows the earlier responses', async (t) => {
  const { service, head } = await setUp(t);
  await service.commit('team/app', { large: randomBytes(3_000_000) });
  const { hostname, port } = new URL(service.url);
  const send = async (text: string, isHalfClosed: boolean): Promise<string> => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.write(text);
    if (isHalfClosed) socket.end();
    const parts: Buffer[] = [];
    for await (const part of socket) parts.push(part);
    return Buffer.concat(parts).toString('latin1');
  };
  const statusesOf = (text: string) => text.match(/HTTP\/1\.1 (?!102)\d+/g)?.join();
  const behind = await send(`${head('POST /api/v1/repos/archive', { 'content-length': '2' })}{}GARBAGE\r\n\r\n`, false);
  t.equal(statusesOf(behind), 'HTTP/1.1 200,HTTP/1.1 400');
  t.ok(behind.includes('\r\n0\r\n\r\nHTTP/1.1 400'), 'the archive is whole before the refusal');
  const cut = await send(head('GET /api/v1/repo', { 'content-length': '30' }), true);
  t.equal(statusesOf(cut), 'HTTP/1.1 200', 'a request that was answered gets no second answer');
});

t.test('a body that stops arriving is aborted, and others are served meanwhile', async (t) => {
  const { service, head } = await setUp(t, { limits: { idleTimeout: 200 } });
  const before = stateDigest(service.world);
  const heads = ['commit-pack', 'restore-commit', 'grep', 'diff-commit'].map((name) =>
    head(`POST /api/v1/repos/${name}`, { 'content-length': '1000' }),
  );
  const pushes = ['git-receive-pack', 'git-upload-pack'].map((name) =>
    head(`POST /team/app.git/${name}`, { 'content-length': '1000', 'content-type': `application/x-${name}-request` }),
  );
  const stuck = [...heads, ...pushes].map((text) => talk(service, (socket) => socket.write(`${text}{"`)));
  t.equal((await service.call('GET', '/api/v1/repo')).status, 200);
  for (const [index, response] of (await Promise.all(stuck)).entries())
    t.equal(response.status, 408, `${index}: ${response.body}`);
  const body = packBody({ slow: 'slow' });
  const slow = await talk(service, (socket) => {
    socket.write(head('POST /api/v1/repos/commit-pack', { 'content-length': String(body.length) }));
    let at = 0;
    const timer = setInterval(() => {
      socket.write(body.slice(at, at + 60));
      at += 60;
      if (at >= body.length) clearInterval(timer);
    }, 50);
  });
  t.equal(slow.status, 201, 'slow is not stopped');
  t.not(stateDigest(service.world), before);
});

t.test('a body given up early does not block its connection', async (t) => {
  const { service, head } = await setUp(t);
  const { hostname, port } = new URL(service.url);
  for (const line of ['commit-pack', 'diff-commit', 'restore-commit', 'grep']) {
    const body = `1\n${'x\n'.repeat(900_000)}`;
    const statuses = await new Promise<string[]>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (data) => {
        text += data;
        const found = text.match(/HTTP\/1\.1 \d+/g) ?? [];
        if (found.length < 2) return;
        socket.destroy();
        resolve(found.map((one) => one.slice(9)));
      });
      socket.once('error', reject);
      socket.write(head(`POST /api/v1/repos/${line}`, { 'content-length': String(body.length) }));
      socket.write(body);
      socket.write(head('GET /api/v1/repo'));
    });
    t.match(statuses, [/^4(00|13)$/, '200'], line);
  }
});

t.test('compressed bodies are refused by the API', async (t) => {
  const { service } = await setUp(t);
  const before = stateDigest(service.world);
  const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
  const bodies: [string, string][] = [
    ['commit-pack', packBody({ a: 'a' })],
    ['restore-commit', '{"metadata":{}}'],
    ['diff-commit', packBody({})],
    ['grep', '{"query":{"pattern":"x"}}'],
    ['archive', '{}'],
    ['notes', '{}'],
    ['branches/create', '{}'],
  ];
  for (const [name, body] of bodies) {
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(body)],
      ['gzip', bomb],
      ['br', Buffer.from(body)],
      ['gzip, gzip', gzipSync(gzipSync(body))],
    ] as const) {
      const headers = { 'content-encoding': encoding };
      const response = await service.call('POST', `/api/v1/repos/${name}`, { body: bytes, headers });
      t.match(response, { status: 415, json: { code: 'unsupported_media_type' } }, `${name} ${encoding}`);
    }
    const plain = await service.call('POST', `/api/v1/repos/${name}`, {
      body,
      headers: { 'content-encoding': 'identity' },
    });
    t.not(plain.status, 415, `${name} identity`);
  }
  t.not(stateDigest(service.world), before, 'the commit without compression went in');
});

t.test('every route: HEAD, and 405 with Allow for methods it does not have', async (t) => {
  const { service } = await setUp(t);
  const methods = new Map<string, Set<string>>();
  for (const { routes, head } of operations) {
    for (const { method, path } of routes) {
      const known = methods.get(path) ?? new Set();
      methods.set(path, known.add(method));
      if (method === 'GET' && head !== false) known.add('HEAD');
    }
  }
  const before = stateDigest(service.world);
  for (const [path, known] of methods) {
    const target = path
      .replace('{repo_name}', path.includes('.git/') ? 'team/app' : 'team%2Fapp')
      .replace(/\{\w+\}/g, 'x');
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      if (known.has(method) && method !== 'HEAD') continue;
      const response = await service.call(method, target);
      if (method === 'HEAD' && known.has('HEAD')) {
        const get = await service.call('GET', target);
        t.equal(response.status, get.status, `HEAD ${path}`);
        t.equal(response.headers['content-type'], get.headers['content-type']);
        t.equal(response.text, '', `HEAD ${path} has no body`);
        continue;
      }
      t.equal(response.status, 405, `${method} ${path}`);
      t.same(new Set(response.headers.allow?.split(', ')), known, `${method} ${path}: Allow`);
      if (method === 'HEAD') t.equal(response.text, '');
      else if (path.includes('/info/lfs/'))
        t.match(response.headers['content-type'], /^application\/vnd\.git-lfs\+json$/);
      else if (path.includes('.git/')) t.match(response.headers['content-type'], /text\/plain/);
      else if (path.endsWith('files/metadata')) t.same(Object.keys(response.json), ['error']);
      else t.match(response.json, { code: 'method_not_allowed', status: 405 });
    }
  }
  t.equal(stateDigest(service.world), before);
});

t.test('names chosen by the client cannot split a header', async (t) => {
  const { service } = await setUp(t);
  const repo = 'a"b\u00e9;x=1';
  await service.seed(repo, { 'x.html': '<script>alert(1)</script>', 'q"\t;.txt': 'x' });
  const archive = await service.call('POST', '/api/v1/repos/archive', { repo });
  t.match(
    archive.headers['content-disposition'],
    /^attachment; filename="[^"]*"; filename\*=UTF-8''[A-Za-z0-9%._~-]+$/,
  );
  const page = await service.call('GET', '/api/v1/repos/file?path=x.html', { repo });
  t.match(page.headers, { 'x-content-type-options': 'nosniff', 'content-security-policy': /sandbox/ });
  const odd = await service.call('GET', `/api/v1/repos/file?path=${encodeURIComponent('q"\t;.txt')}`, { repo });
  t.equal(odd.status, 200);
  for (const name of ['x\r\ny: z', 'x\ny', '\u0000', '\u007f']) {
    t.equal((await service.call('POST', '/api/repos', { repo: name })).status, 400, JSON.stringify(name));
  }
  const missing = await service.call('GET', `/api/v1/repos/file?path=${encodeURIComponent('no\r\nsuch: file')}`, {
    repo,
  });
  t.equal(missing.status, 400);
});

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { type Service, startService } from '../test/service.js';

const TYPE = 'application/vnd.git-lfs+json';
const OBJECTS = '/team/app.git/info/lfs/objects';
const oidOf = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const small = Buffer.from('some content\n');

async function stage(t: Test, options: GivenOptions = {}): Promise<Service> {
  const service = await startService(options);
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.call('POST', '/api/repos');
  return service;
}

const put = (service: Service, content: Buffer, at = `${OBJECTS}/${oidOf(content)}`) =>
  service.call('PUT', at, { body: content });

t.test('an uploaded object is downloaded completely, in ranges, and conditionally', async (t) => {
  const service = await stage(t);
  const contents = [Buffer.alloc(0), small, randomBytes(4096), randomBytes(4097), randomBytes(1_000_003)];
  for (const content of contents) {
    const oid = oidOf(content);
    const at = `${OBJECTS}/${oid}`;
    const stored = await put(service, content);
    t.match([stored.status, stored.text], [200, ''], `${content.length} bytes`);
    const whole = await service.call('GET', at);
    t.ok(whole.status === 200 && whole.bytes.equals(content), `${content.length} bytes`);
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': `${content.length}`,
      etag: `"${oid}"`,
    };
    t.match(whole.headers, { ...headers, 'accept-ranges': 'bytes' });
    const head = await service.call('HEAD', at);
    t.match([head.status, head.headers, head.bytes.length], [200, headers, 0]);
    t.equal((await service.call('GET', at, { headers: { 'if-none-match': `"${oid}"` } })).status, 304);
    const past = await service.call('GET', at, { headers: { range: `bytes=${content.length}-` } });
    t.match([past.status, past.headers], [416, { 'content-range': `bytes */${content.length}`, 'content-type': TYPE }]);
    for (const start of [1, 4095, 4096, 300_000, content.length - 1]) {
      if (start < 1 || start >= content.length) continue;
      for (const end of [start, start + 5000, content.length - 1]) {
        const part = await service.call('GET', at, { headers: { range: `bytes=${start}-${end}` } });
        const last = Math.min(end, content.length - 1);
        t.match(part, { status: 206, headers: { 'content-range': `bytes ${start}-${last}/${content.length}` } });
        t.ok(part.bytes.equals(content.subarray(start, last + 1)), `${start}-${end} of ${content.length}`);
      }
    }
  }
});

t.test('content with another id or size is refused, and not stored', async (t) => {
  const service = await stage(t, { limits: { maxLfsObjectBytes: 5000 } });
  const oid = oidOf(small);
  const at = `${OBJECTS}/${oid}`;
  const large = randomBytes(5001);
  const rows: [string, number, string, { body?: Buffer | AsyncIterable<Buffer>; headers?: Record<string, string> }][] =
    [
      ['other content', 400, at, { body: Buffer.from('Some content\n') }],
      ['less content', 400, at, { body: small.subarray(1) }],
      ['no content', 400, at, {}],
      ['another size than was announced', 400, `${at}?size=${small.length + 1}`, { body: small }],
      ['the same, of unknown length', 400, `${at}?size=${small.length - 1}`, { body: pieces(small) }],
      ['a size that is none', 400, `${at}?size=-1`, { body: small }],
      ['more than an object may have', 413, `${OBJECTS}/${oidOf(large)}`, { body: large }],
      ['the same, of unknown length', 413, `${OBJECTS}/${oidOf(large)}`, { body: pieces(large) }],
      ['an oid in upper case', 400, `${OBJECTS}/${oid.toUpperCase()}`, { body: small }],
      ['an oid that is none', 400, `${OBJECTS}/x`, { body: small }],
      ['a path as oid', 400, `${OBJECTS}/..%2F${oid}`, { body: small }],
      ['a part', 400, at, { body: small, headers: { 'content-range': 'bytes 0-12/13' } }],
      ['compressed content', 415, at, { body: small, headers: { 'content-encoding': 'gzip' } }],
    ];
  for (const [what, status, target, options] of rows) {
    const response = await service.call('PUT', target, options);
    t.equal(response.status, status, `${what}: ${response.text}`);
    t.match([response.headers['content-type'], response.json], [TYPE, { message: /\S/ }], what);
    t.equal((await service.call('GET', at)).status, 404, `${what}: not kept`);
    t.equal(service.world.engine.memory.used, 0, `${what}: nothing held`);
  }
});

async function* pieces(content: Buffer): AsyncGenerator<Buffer> {
  for (const byte of content) yield Buffer.of(byte);
}

t.test('uploads byte by byte, without a batch request, and of a stored object', async (t) => {
  const service = await stage(t);
  const { world } = service;
  const content = randomBytes(5000);
  const at = `${OBJECTS}/${oidOf(content)}`;
  t.equal((await service.call('PUT', at, { body: pieces(content) })).status, 200);
  t.ok((await service.call('GET', at)).bytes.equals(content));
  const held = world.engine.memory.used;
  t.ok(held >= content.length && held < content.length + 1000);
  t.equal((await put(service, content)).status, 200, 'once more');
  t.equal((await put(service, randomBytes(5000), at)).status, 400, 'also of what is there the content is looked at');
  t.equal(world.engine.memory.used, held, 'held once');
  t.ok((await service.call('GET', at)).bytes.equals(content));
  const twins = await Promise.all([put(service, small), put(service, small)]);
  t.same(
    twins.map(({ status }) => status),
    [200, 200],
  );
  t.equal(world.engine.memory.used, held + small.length + 256, 'two at once are held once');
});

t.test('an upload whose client disconnects or stalls is discarded', async (t) => {
  const service = await stage(t, { limits: { idleTimeout: 200 } });
  const { world } = service;
  const token = await service.token({ repo: 'team/app' });
  const content = randomBytes(100_000);
  const { port } = new URL(service.url);
  const start = `PUT ${OBJECTS}/${oidOf(content)} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n`;
  for (const leaves of [true, false]) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    socket.write(`${start}content-length: ${content.length}\r\n\r\n`);
    socket.write(content.subarray(0, 50_000));
    while (world.engine.memory.used < 50_000) await new Promise((resolve) => setImmediate(resolve));
    const response: Buffer[] = [];
    socket.on('data', (piece) => response.push(piece));
    if (leaves) socket.destroy();
    else {
      await once(socket, 'end');
      socket.destroy();
      t.match(String(Buffer.concat(response)), /^HTTP\/1\.1 408 /);
    }
    while (world.engine.memory.used > 0) await new Promise((resolve) => setImmediate(resolve));
    t.equal((await service.call('GET', `${OBJECTS}/${oidOf(content)}`)).status, 404);
  }
  const codes = [...world.state.journal.entries()].filter(({ method }) => method === 'PUT').map(({ code }) => code);
  t.same(codes, ['request_canceled', 'request_timeout']);
});

t.test('an upload that exceeds the memory limit is 507 and releases its memory', async (t) => {
  const service = await stage(t, { limits: { maxHeldBytes: 10_000 } });
  const { world } = service;
  const content = randomBytes(9_000);
  t.equal((await put(service, content)).status, 200);
  const held = world.engine.memory.used;
  for (const body of [randomBytes(2_000), pieces(randomBytes(2_000))]) {
    const refused = await service.call('PUT', `${OBJECTS}/${'0'.repeat(64)}`, { body });
    t.match(refused, { status: 507, headers: { 'content-type': TYPE }, json: { message: /10000 bytes/ } });
    t.equal(world.engine.memory.used, held);
  }
  t.equal((await put(service, content)).status, 200, 'what is there takes no room');
  await service.call('DELETE', '/api/repos/team%2Fapp');
  t.equal(world.engine.memory.used, 0);
});

t.test('verify checks that the object exists with that size', async (t) => {
  const service = await stage(t);
  await put(service, small);
  const verify = (json: unknown, scopes = ['git:write']) =>
    service.call('POST', `${OBJECTS}/verify`, { json, scopes, headers: { 'content-type': TYPE, accept: TYPE } });
  const oid = oidOf(small);
  t.match(await verify({ oid, size: small.length }), { status: 200, text: '' });
  t.match(await verify({ oid, size: small.length + 1 }), {
    status: 422,
    json: { message: /13 bytes, but the request says 14/ },
  });
  t.match(await verify({ oid: '0'.repeat(64), size: 1 }), { status: 404, json: { message: /has no LFS object/ } });
  for (const body of [{}, { oid }, { oid, size: -1 }, { oid, size: '13' }, { oid: [oid], size: 13 }, []]) {
    t.equal((await verify(body)).status, 422, JSON.stringify(body));
  }
  t.equal((await verify({ oid, size: small.length }, ['git:read'])).status, 403);
});

t.test('an object of another repository is like a missing one', async (t) => {
  const service = await stage(t);
  await service.call('POST', '/api/repos', { repo: 'other' });
  await put(service, small);
  const ask = (oid: string, repo = 'other', at = repo) =>
    service.call('GET', `/${at}.git/info/lfs/objects/${oid}`, { repo });
  const bodyOf = ({ status, json }: Awaited<ReturnType<typeof ask>>) => [status, { ...json, request_id: '' }];
  t.same(bodyOf(await ask(oidOf(small))), bodyOf(await ask('0'.repeat(64))));
  t.equal((await ask(oidOf(small))).status, 404);
  t.equal((await ask(oidOf(small), 'other', 'team/app')).status, 404, "the claim is the token's");
  const before = service.world.state.repositories.find('demo', 'other')!.record.lfsObjects;
  t.equal(before, undefined);
});

t.test('methods, remotes and scopes', async (t) => {
  const service = await stage(t);
  const at = `${OBJECTS}/${oidOf(small)}`;
  t.match(await service.call('DELETE', at), {
    status: 405,
    headers: { allow: 'GET, HEAD, PUT', 'content-type': TYPE },
  });
  t.match(await service.call('GET', `${OBJECTS}/batch`), { status: 405, headers: { allow: 'POST' } });
  t.equal((await service.call('GET', '/team/app.git/info/lfs/nothing')).status, 404);
  t.equal((await service.call('PUT', at, { body: small, scopes: ['git:read'] })).status, 403);
  const twin = (suffix: string) => at.replace('.git/', `${suffix}.git/`);
  t.equal((await service.call('PUT', twin('+import'), { body: small, scopes: ['git:write'] })).status, 200);
  t.equal((await service.call('GET', twin('+import'))).status, 403, 'the import remote shows nothing');
  t.ok((await service.call('GET', twin('+ephemeral'))).bytes.equals(small), 'remotes of a repository share objects');
  t.equal((await service.call('GET', at, { scopes: ['git:write'] })).status, 403);
  const thawing = await service.call('GET', at, { headers: { 'x-emulator-fault': 'repository_thawing' } });
  t.match([thawing.status, thawing.headers], [409, { 'retry-after': '1' }]);
  const syncing = { 'x-emulator-fault': 'sync_in_progress' };
  t.equal((await service.call('PUT', at, { body: small, headers: syncing })).status, 409);
  t.equal((await service.call('GET', at, { headers: syncing })).status, 200);
});

t.test('a repository that is deleted while an object arrives keeps nothing of it', async (t) => {
  const service = await stage(t);
  const { world } = service;
  const content = randomBytes(20_000);
  const body = async function* () {
    yield content.subarray(0, 10_000);
    while (world.engine.memory.used < 10_000) await new Promise((resolve) => setImmediate(resolve));
    await service.call('DELETE', '/api/repos/team%2Fapp');
    yield content.subarray(10_000);
  };
  const response = await service.call('PUT', `${OBJECTS}/${oidOf(content)}`, { body: body() });
  t.equal(response.status, 404);
  t.equal(world.engine.memory.used, 0);
  await service.call('POST', '/api/repos');
  t.equal((await service.call('GET', `${OBJECTS}/${oidOf(content)}`)).status, 404, 'nor its successor');
});

import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { type CallOptions, type Service, startService } from '../test/service.js';

const TYPE = 'application/vnd.git-lfs+json';
const LFS = '/team/app.git/info/lfs';
const content = Buffer.from('some content\n');
const oid = createHash('sha256').update(content).digest('hex');
const size = content.length;
const NONE = 'f'.repeat(64);

async function stage(t: Test, options: GivenOptions = {}): Promise<Service> {
  const service = await startService(options);
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.call('POST', '/api/repos');
  return service;
}

function ask(service: Service, json: unknown, options: CallOptions & { at?: string } = {}) {
  const { at = LFS, headers, ...rest } = options;
  const types = { 'content-type': TYPE, accept: TYPE, ...headers };
  return service.call('POST', `${at}/objects/batch`, { json, ...rest, headers: types });
}

t.test('uploads and downloads get an action, and stored objects get none', async (t) => {
  const service = await stage(t);
  const objects = [{ oid, size }];
  const upload = await ask(service, {
    operation: 'upload',
    transfers: ['basic'],
    ref: { name: 'refs/heads/main' },
    objects,
  });
  t.equal(upload.status, 200);
  t.equal(upload.headers['content-type'], TYPE);
  const url = `${service.url}${LFS}/objects`;
  const { actions } = upload.json.objects[0];
  t.match(upload.json, { transfer: 'basic', hash_algo: 'sha256', objects: [{ oid, size }] });
  t.equal(actions.upload.href, `${url}/${oid}?size=${size}`);
  t.equal(actions.verify.href, `${url}/verify`);
  t.ok(actions.upload.expires_in > 0 && Number.isInteger(actions.upload.expires_in));
  t.notMatch(upload.text, /eyJ/, 'no token in it');

  t.match((await ask(service, { operation: 'download', objects })).json.objects, [{ oid, size, error: { code: 404 } }]);
  const put = await service.call('PUT', new URL(actions.upload.href).pathname + new URL(actions.upload.href).search, {
    body: content,
  });
  t.equal(put.status, 200, put.text);
  t.same((await ask(service, { operation: 'upload', objects })).json.objects, [{ oid, size }], 'no actions');
  const download = (await ask(service, { operation: 'download', objects: [...objects, ...objects] })).json.objects;
  t.equal(download.length, 2, 'asked for twice, told twice');
  t.equal(download[0].actions.download.href, `${url}/${oid}`);
  t.same(Object.keys(download[0].actions), ['download']);
});

t.test('optional members may be absent or null; a charset is allowed', async (t) => {
  const service = await stage(t);
  const bodies: Record<string, unknown>[] = [
    {},
    { transfers: null, ref: null, hash_algo: null },
    { transfers: [] },
    { transfers: ['custom', 'basic'], hash_algo: 'sha256', ref: {}, later: { unknown: [1] } },
  ];
  for (const body of bodies) {
    const response = await ask(service, { operation: 'download', objects: [], ...body });
    t.match([response.status, response.json], [200, { transfer: 'basic', objects: [] }], JSON.stringify(body));
  }
  for (const accept of ['*/*', 'application/*;q=0.5', `text/html, ${TYPE}; charset=utf-8`]) {
    const headers = { accept, 'content-type': `${TYPE}; charset=utf-8` };
    t.equal((await ask(service, { operation: 'download', objects: [] }, { headers })).status, 200, accept);
  }
});

t.test('an error of one object is reported for that object', async (t) => {
  const service = await stage(t, { limits: { maxLfsObjectBytes: 1000 } });
  await service.call('PUT', `${LFS}/objects/${oid}`, { body: content });
  const rows: [string, object, number][] = [
    ['not hexadecimal', { oid: 'z'.repeat(64), size: 1 }, 422],
    ['short', { oid: oid.slice(1), size: 1 }, 422],
    ['long', { oid: `${oid}0`, size: 1 }, 422],
    ['empty', { oid: '', size: 1 }, 422],
    ['upper case', { oid: oid.toUpperCase(), size }, 422],
    ['a path', { oid: `../${oid}`, size }, 422],
    ['another size than it has', { oid, size: size + 1 }, 422],
    ['larger than the limit', { oid: NONE, size: 1001 }, 422],
    ['as large as a number can be', { oid: NONE, size: Number.MAX_SAFE_INTEGER }, 422],
  ];
  const fine = { oid: NONE, size: 1000 };
  const objects = [...rows.map(([, object]) => object), fine];
  const { json, status } = await ask(service, { operation: 'upload', objects });
  t.equal(status, 200);
  for (const [at, [what, object, code]] of rows.entries()) {
    t.match(json.objects[at], { ...object, error: { code, message: /\S/ } }, what);
    t.notOk(json.objects[at].actions, what);
  }
  t.ok(json.objects.at(-1).actions.upload, 'the others are not held up');
  const download = await ask(service, {
    operation: 'download',
    objects: [
      { oid: NONE, size: 1 },
      { oid: 'x', size: 1 },
    ],
  });
  t.match(download.json.objects, [{ error: { code: 404 } }, { error: { code: 422 } }]);
  const hashed = await ask(service, { operation: 'download', hash_algo: 'sha512', objects: [{ oid, size }] });
  t.match([hashed.status, hashed.json.objects], [200, [{ oid, size, error: { code: 409 } }]]);
});

t.test('an invalid request is refused as a whole, with an LFS error', async (t) => {
  const service = await stage(t, { limits: { maxLfsBatch: 3 } });
  const object = { oid, size };
  const whole = { operation: 'upload', objects: [object] };
  const rows: [string, number, unknown, CallOptions?][] = [
    ['no body', 422, undefined],
    ['unknown operation', 422, { ...whole, operation: 'delete' }],
    ['no operation', 422, { objects: [] }],
    ['no objects', 422, { operation: 'upload' }],
    ['objects that are no list', 422, { ...whole, objects: { 0: object } }],
    ['an object that is null', 422, { ...whole, objects: [null] }],
    ['an oid that is a number', 422, { ...whole, objects: [{ oid: 1, size }] }],
    ['a negative size', 422, { ...whole, objects: [{ oid, size: -1 }] }],
    ['a size with a fraction', 422, { ...whole, objects: [{ oid, size: 1.5 }] }],
    ['a size that is a string', 422, { ...whole, objects: [{ oid, size: '13' }] }],
    ['a size beyond whole numbers', 422, { ...whole, objects: [{ oid, size: 1e300 }] }],
    ['no size', 422, { ...whole, objects: [{ oid }] }],
    ['unknown transfers only', 422, { ...whole, transfers: ['tus', 'ssh'] }],
    ['a ref that is a string', 422, { ...whole, ref: 'main' }],
    ['too many objects', 413, { ...whole, objects: [object, object, object, object] }],
    ['no JSON', 400, undefined, { body: '{"operation":' }],
    ['nested too deep', 400, undefined, { body: '['.repeat(100_000) }],
    ['100,000 objects', 413, { ...whole, objects: Array(100_000).fill(object) }],
    ['another type', 415, whole, { headers: { 'content-type': 'text/plain' } }],
    ['compressed', 415, whole, { headers: { 'content-encoding': 'gzip' } }],
    ['HTML wanted', 406, whole, { headers: { accept: 'text/html' } }],
    ['LFS not wanted', 406, whole, { headers: { accept: `*/*, ${TYPE};q=0` } }],
  ];
  for (const [what, status, json, options = {}] of rows) {
    const response = await ask(service, json, options);
    t.equal(response.status, status, `${what}: ${response.text.slice(0, 200)}`);
    t.equal(response.headers['content-type'], TYPE, what);
    t.match(
      response.json,
      { message: /\S/, documentation_url: /^https:/, request_id: response.headers['x-request-id'] },
      what,
    );
    t.notOk(response.json.objects, what);
  }
  t.equal(service.world.engine.memory.used, 0);
});

t.test('the scope is that of the operation, and a challenge is worded for Git and for LFS', async (t) => {
  const service = await stage(t);
  const objects = [{ oid, size }];
  const rows: [string, string, number][] = [
    ['download', 'git:read', 200],
    ['download', 'git:write', 403],
    ['upload', 'git:write', 200],
    ['upload', 'git:read', 403],
  ];
  for (const [operation, scope, status] of rows) {
    const response = await ask(service, { operation, objects }, { scopes: [scope] });
    t.equal(response.status, status, `${operation} with ${scope}`);
    if (status === 403) t.match(response.json.message, /The token lacks the scope git:/);
  }
  const none = await ask(service, { operation: 'upload', objects }, { token: null });
  t.match([none.status, none.headers], [401, { 'www-authenticate': /^Basic /, 'lfs-authenticate': /^Basic / }]);
  t.match(none.json, { message: /\S/ });
  const basic = Buffer.from(`anybody:${await service.token({ repo: 'team/app' })}`).toString('base64');
  const headers = { authorization: `Basic ${basic}` };
  t.equal((await ask(service, { operation: 'upload', objects }, { token: null, headers })).status, 200);
  t.equal((await ask(service, { operation: 'upload', objects }, { repo: 'other' })).status, 404);
  // Use a token whose policy forbids pushes to all refs. The upload must still succeed, because LFS objects are not
  // refs.
  const bound = await service.token({ repo: 'team/app', claims: { refs: [['*', ['no-push']]] } });
  t.equal((await ask(service, { operation: 'upload', objects }, { token: bound })).status, 200);
});

t.test('an unreadable body is refused after all checks that precede the input', async (t) => {
  const service = await stage(t);
  const broken = { body: '{' };
  const fault = (name: string) => ({ ...broken, headers: { 'x-emulator-fault': name } });
  const rows: [string, number, CallOptions & { at?: string }][] = [
    ['scope', 403, { ...broken, scopes: ['repo:write'] }],
    ['quota', 429, fault('rate_limited')],
    ['repository', 404, { ...broken, repo: 'gone', at: '/gone.git/info/lfs' }],
    ['state', 409, fault('repository_thawing')],
    ['input', 400, broken],
  ];
  for (const [what, status, options] of rows) {
    t.equal((await ask(service, undefined, options)).status, status, what);
  }
});

t.test('states and quotas refuse uploads and downloads separately', async (t) => {
  const service = await stage(t);
  const fault = (name: string) => ({ headers: { 'x-emulator-fault': name } });
  const rows: [string, string, number, string][] = [
    ['upload', 'sync_in_progress', 409, '1'],
    ['download', 'sync_in_progress', 200, ''],
    ['upload', 'repository_thawing', 409, '1'],
    ['download', 'repository_thawing', 409, '1'],
    ['download', 'rate_limited', 429, '1'],
  ];
  for (const [operation, name, status, retry] of rows) {
    const response = await ask(service, { operation, objects: [] }, fault(name));
    t.equal(response.status, status, `${operation} ${name}: ${response.text}`);
    t.equal(response.headers['retry-after'] ?? '', retry, `${operation} ${name}`);
  }
  await service.call('DELETE', '/api/repos/team%2Fapp');
  t.match(await ask(service, { operation: 'download', objects: [] }), {
    status: 404,
    headers: { 'content-type': TYPE },
  });
});

t.test('the URLs of actions have the remote, host and organization of the request', async (t) => {
  const service = await stage(t, { org: ['demo', 'acme'] });
  const objects = [{ oid, size }];
  const hrefOf = async (at: string, options: CallOptions = {}) => {
    const response = await ask(service, { operation: 'upload', objects }, { at, ...options });
    return response.json.objects?.[0].actions.upload.href ?? response.text;
  };
  const end = `.git/info/lfs/objects/${oid}?size=${size}`;
  t.equal(await hrefOf('/team%2Fapp.git/info/lfs'), `${service.url}/team/app${end}`);
  t.equal(await hrefOf('/team/app+ephemeral.git/info/lfs'), `${service.url}/team/app+ephemeral${end}`);
  t.equal(await hrefOf('/team%2Fapp%2Bimport.git/info/lfs'), `${service.url}/team/app+import${end}`);
  const { port } = new URL(service.url);
  const host = `api.acme.localhost:${port}`;
  const token = await service.token({ org: 'acme', key: 'second', repo: 'team/app' });
  await service.call('POST', '/api/repos', { token, headers: { host } });
  t.equal(await hrefOf('/team/app.git/info/lfs', { token, headers: { host } }), `http://${host}/team/app${end}`);
  const odd = await hrefOf(LFS, { headers: { host: '127.0.0.1:1@evil.example' } });
  t.notMatch(odd, /evil/);
  const read = await ask(service, { operation: 'download', objects }, { at: '/team/app+import.git/info/lfs' });
  t.match(read, { status: 403, json: { message: /\+import remote/ } });
});

t.test('objects above a limit are refused before they are sent', async (t) => {
  const service = await stage(t, { limits: { maxHeldBytes: 10_000 } });
  const objects = [
    { oid, size: 6_000 },
    { oid: NONE, size: 6_000 },
  ];
  const response = await ask(service, { operation: 'upload', objects });
  t.match(response, { status: 507, json: { message: /10000 bytes/ } });
  const once = await ask(service, { operation: 'upload', objects: [objects[0], objects[0]] });
  t.equal(once.status, 200, 'the same object twice takes its room once');
});

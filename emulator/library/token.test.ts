import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { type Emulator, startEmulator, type TokenOptions } from '../index.js';

async function start(t: Test, options: GivenOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ port: 0, clock: '2026-01-01T00:00:00Z', org: ['one', 'two'], ...options });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  return emulator;
}

async function ask({ baseUrl }: { readonly baseUrl: string }, method: string, path: string, token: string) {
  const { status, headers } = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status, fired: headers.get('x-emulator-fault-fired') };
}

t.test('tokens are signed at the time of the emulator, with the key of the organization', async (t) => {
  const emulator = await start(t);
  await emulator.clock.advance(3_600_000);
  const iat = Date.parse('2026-01-01T01:00:00Z') / 1000;
  const plain = await emulator.token();
  t.same(decodeProtectedHeader(plain), { alg: 'ES256', typ: 'JWT', kid: emulator.keyId });
  const scopes = ['git:write', 'git:read'];
  t.same(decodeJwt(plain), { iss: 'one', sub: 'emulator', scopes, iat, exp: iat + 31_536_000 });
  const full = await emulator.token({ repo: 'r', scopes: ['repo:write'], ttl: 60, sub: 'me', org: 'two' });
  t.same(decodeJwt(full), { iss: 'two', sub: 'me', repo: 'r', scopes: ['repo:write'], iat, exp: iat + 60 });
  t.match(decodeProtectedHeader(full), { kid: 'second' });
  t.match(await ask(emulator.orgs[1]!, 'POST', '/api/repos', full), { status: 201 });
  const restricted = await emulator.token({ repo: 'r', key: 'restricted' });
  t.match(decodeJwt(restricted), { scopes: ['git:read'], exp: iat + 3600 });
  const foreign = await emulator.token({ repo: 'r', org: 'none' });
  t.match(decodeJwt(foreign), { iss: 'none' }, 'a token for an organization that does not exist can be signed');
  t.match(await ask(emulator, 'GET', '/api/v1/repo', foreign), { status: 403 });
});

t.test('the faults and the scenario of a token apply to its requests', async (t) => {
  const emulator = await start(t);
  const faults = ['service_unavailable*1', { do: { error: { code: 'bad_gateway' } }, when: { times: 1 } } as const];
  const token = await emulator.token({ repo: 'r', scopes: ['repo:write', 'git:read'], faults, scenario: 's' });
  t.match(decodeJwt(token), { emu: { faults, scenario: 's' } });
  t.match(await ask(emulator, 'POST', '/api/repos', token), { status: 503, fired: 'service_unavailable' });
  t.match(await ask(emulator, 'POST', '/api/repos', token), { status: 502 });
  t.match(await ask(emulator, 'POST', '/api/repos', token), { status: 201, fired: null });
});

t.test('a namespace signs at its own time', async (t) => {
  const emulator = await start(t);
  const namespace = await emulator.namespace({ clock: '2030-01-01T00:00:00Z' });
  const token = await namespace.token({ repo: 'r', scopes: ['repo:write'] });
  t.equal(decodeJwt(token).iat, Date.parse('2030-01-01T00:00:00Z') / 1000);
  t.match(await ask(namespace, 'POST', '/api/repos', token), { status: 201 });
});

t.test('invalid token options are refused with the name of the member', async (t) => {
  const emulator = await start(t);
  for (const [options, message] of [
    [{ ttl: 0 }, /^ttl must be/],
    [{ ttl: 1.5 }, /^ttl must be/],
    [{ key: 'none' }, /^key must be the id of a test key \(es256, .*\) or the path of a readable PEM file/],
    [{ faults: ['nonsense'] }, /^faults: unknown fault nonsense/],
    [{ faults: ['cut@accept'] }, /^faults: .*accept/],
    [{ faults: [{ do: {} } as never] }, /^do: Must have one of error/],
    [{ scenario: 'a b' }, /^scenario: /],
  ] satisfies [TokenOptions, RegExp][]) {
    await t.rejects(emulator.token(options), { message }, JSON.stringify(options));
  }
});

t.test('without test keys, the key of the organization signs', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const file = join(t.testdir({}), 'key.pem');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const emulator = await start(t, { testKeys: false, key: `${file}:own` });
  const token = await emulator.token({ repo: 'r', scopes: ['repo:write'] });
  t.same(decodeProtectedHeader(token), { alg: 'ES384', typ: 'JWT', kid: 'own' });
  t.match(await ask(emulator, 'POST', '/api/repos', token), { status: 201 });
  const bare = await start(t, { testKeys: false });
  await t.rejects(bare.token(), { message: /^The emulator has no key with which/ });
});

t.test('releasing a latch returns the number of held requests', async (t) => {
  const emulator = await start(t);
  const token = await emulator.token({ repo: 'r', scopes: ['repo:write'], faults: ['hold*1;latch=door'] });
  t.equal(emulator.release('door'), 0);
  const held = ask(emulator, 'POST', '/api/repos', token);
  let released = 0;
  for (let turn = 0; released === 0 && turn < 10_000; turn++) {
    released = emulator.release('door');
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(released, 1);
  t.match(await held, { status: 201 });
});

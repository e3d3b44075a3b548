import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { fixtureKeys } from '../auth/fixture-keys.js';
import { mintToken, type TokenRequest } from '../auth/mint.js';
import { type GivenOptions, OptionError } from '../config/options.js';
import { startEmulator } from '../index.js';

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const privatePem = String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
const publicPem = String(pair.publicKey.export({ type: 'spki', format: 'pem' }));
const testPem = readFileSync(fixtureKeys()[0]!.privateKeyFile, 'utf8');

async function start(t: Test, options: GivenOptions) {
  const emulator = await startEmulator({ port: 0, adminToken: 'canary', org: ['demo', 'other'], ...options });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  /**
   * Returns the error code of the response to a token that this key signed. The code is `repository_not_found` if the
   * token is valid.
   */
  const codeOf = async (privateKeyPem: string, request: Partial<TokenRequest> = {}, index = 0) => {
    const { org, baseUrl } = emulator.orgs[index]!;
    const token = await mintToken({ privateKeyPem, org, repo: 'r', ...request });
    const response = await fetch(`${baseUrl}/api/v1/repo`, { headers: { authorization: `Bearer ${token}` } });
    return ((await response.json()) as { code: string }).code;
  };
  const tokens = async () => {
    const headers = { authorization: 'Bearer canary', 'content-type': 'application/json' };
    return (await fetch(`${emulator.adminUrl}/tokens`, { method: 'POST', headers, body: '{"repo":"r"}' })).status;
  };
  return { emulator, codeOf, tokens };
}

const VALID = 'repository_not_found';
const UNKNOWN = 'forbidden';

t.test('test keys are valid on loopback, and elsewhere only if testKeys is true', async (t) => {
  for (const [options, expected] of [
    [{}, VALID],
    [{ testKeys: true }, VALID],
    [{ testKeys: false }, UNKNOWN],
    [{ host: '0.0.0.0' }, UNKNOWN],
    [{ host: '0.0.0.0', testKeys: 'true' }, VALID],
    [{ host: '0.0.0.0', testKeys: false }, UNKNOWN],
    [{ host: '::1' }, VALID],
  ] as const) {
    const { codeOf, tokens, emulator } = await start(t, options);
    const what = JSON.stringify(options);
    t.equal(await codeOf(testPem), expected, what);
    t.equal(await codeOf(testPem, { kid: 'es256' }), expected, what);
    t.equal(await tokens(), expected === VALID ? 201 : 409, `${what}: tokens`);
    t.equal(emulator.keyId, expected === VALID ? 'es256' : '', `${what}: the key that is named`);
  }
});

t.test('an own key is registered with its organization and scopes', async (t) => {
  const folder = t.testdir({ 'own.pem': privatePem, 'a:b.pub': publicPem });
  const file = join(folder, 'own.pem');
  const own = await start(t, { testKeys: false, key: `${file}:mine` });
  t.equal(await own.codeOf(privatePem), VALID);
  t.equal(await own.codeOf(privatePem, { kid: 'mine' }), VALID);
  t.equal(await own.codeOf(privatePem, {}, 1), UNKNOWN, 'the key belongs to the first organization');
  t.equal(await own.codeOf(testPem), UNKNOWN);
  t.match(own.emulator, { keyId: 'mine', keyFile: file });
  const other = await start(t, { key: [`${file};organization=other;allowed_scopes=git:read+org:read`] });
  t.equal(await other.codeOf(privatePem), UNKNOWN);
  t.equal(await other.codeOf(privatePem, { scopes: ['git:read'], ttl: 60 }, 1), VALID);
  t.equal(await other.codeOf(privatePem, { scopes: ['git:write'], ttl: 60 }, 1), 'forbidden');
  t.equal(await other.codeOf(testPem), VALID, 'the test keys stay valid');
  const pub = await start(t, { testKeys: false, key: { file: join(folder, 'a:b.pub') } });
  t.equal(await pub.codeOf(privatePem), VALID, 'the public part of a key is enough');
  t.match(pub.emulator.keyId, /^[\w-]{43}$/, 'the id of the key is its thumbprint');
  const listed = await fetch(`${pub.emulator.adminUrl}/keys`, { headers: { authorization: 'Bearer canary' } });
  t.notMatch(await listed.text(), /PRIVATE/);
});

t.test('keys that cannot be registered are refused at the start', async (t) => {
  const p256k = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey;
  const folder = t.testdir({
    'own.pem': privatePem,
    'unfit.pem': String(p256k.export({ type: 'spki', format: 'pem' })),
    'text.pem': 'no key',
  });
  const own = join(folder, 'own.pem');
  for (const [key, sentence] of [
    [join(folder, 'absent.pem'), /^key cannot be read: /],
    [join(folder, 'text.pem'), /^key must name a file with a key in PEM/],
    [join(folder, 'unfit.pem'), /cannot sign tokens/],
    [`${own};organization=nobody`, /for the organization nobody, which does not exist/],
    [`${own};allowed_scopes=git:admin`, /has the unknown scope git:admin in allowed_scopes\. /],
    [`${own};allowed_scopes=all`, /^key must have scopes joined by \+ in allowed_scopes/],
    [`${own};color=red`, /^key has the unknown parameter "color"/],
    [`${own}:es256`, /the same id as another key/],
    [[`${own}:x`, `${own}:x`], /the same id as another key/],
    [`${own}:a b`, /^key must have a key id/],
  ] as const) {
    await t.rejects(startEmulator({ port: 0, key }), { constructor: OptionError, message: sentence }, String(key));
  }
  await t.rejects(startEmulator({ port: 0, key: { file: 5 } as never }), {
    message: /^key must be the name of a PEM file/,
  });
});

t.test('off loopback, a published test key cannot be registered as an own key without testKeys', async (t) => {
  const keys = fixtureKeys();
  const refusal = /is a published test key[,.]/;
  for (const { privateKeyFile, publicKeyFile, id } of keys) {
    for (const file of [privateKeyFile, publicKeyFile]) {
      const started = startEmulator({ port: 0, host: '0.0.0.0', adminToken: 'canary', key: `${file}:own` });
      await t.rejects(
        started,
        new OptionError(
          `The key ${file} is a published test key, so anybody can sign with it. Add --test-keys to allow it.`,
        ),
        id,
      );
    }
  }
  for (const [options, isRefused] of [
    [{ host: '0.0.0.0' }, true],
    [{ host: '0.0.0.0', testKeys: false }, true],
    [{ host: '0.0.0.0', testKeys: true }, false],
    [{ testKeys: false }, false],
    [{}, false],
  ] as const) {
    const { emulator } = await start(t, options);
    const namespace = await emulator.namespace();
    const jwk = createPublicKey(testPem).export({ format: 'jwk' });
    for (const adminUrl of [emulator.adminUrl, namespace.adminUrl]) {
      for (const [public_key, id] of [
        [testPem, 'pem'],
        [jwk, 'jwk'],
      ] as const) {
        const body = JSON.stringify({ public_key, id });
        const headers = { authorization: 'Bearer canary', 'content-type': 'application/json' };
        const response = await fetch(`${adminUrl}/keys`, { method: 'POST', headers, body });
        const what = `${JSON.stringify(options)} ${id}`;
        t.equal(response.status, isRefused ? 400 : 201, what);
        if (isRefused) t.match(((await response.json()) as { detail: string }).detail, refusal, what);
      }
      const own = JSON.stringify({ public_key: publicPem });
      const headers = { authorization: 'Bearer canary', 'content-type': 'application/json' };
      t.equal((await fetch(`${adminUrl}/keys`, { method: 'POST', headers, body: own })).status, 201, 'another one');
    }
  }
});

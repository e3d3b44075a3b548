import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import { fixtureKeys } from './fixture-keys.js';
import { DEFAULT_LIFETIME, mintToken } from './mint.js';

t.test('minting', async (t) => {
  const privateKeyPem = (id: string) =>
    readFileSync(fixtureKeys().find((row) => row.id === id)!.privateKeyFile, 'utf8');
  const now = Date.UTC(2026, 0, 1) + 999;
  const iat = Date.UTC(2026, 0, 1) / 1000;
  for (const row of fixtureKeys()) {
    const token = await mintToken({ privateKeyPem: privateKeyPem(row.id), org: 'demo', repo: 'a/b', now, kid: row.id });
    t.same(decodeProtectedHeader(token), { alg: row.algorithm, typ: 'JWT', kid: row.id });
    await jwtVerify(token, createPublicKey(readFileSync(row.publicKeyFile)), { currentDate: new Date(now) });
    t.same(decodeJwt(token), {
      iss: 'demo',
      sub: 'emulator',
      repo: 'a/b',
      scopes: ['git:write', 'git:read'],
      iat,
      exp: iat + DEFAULT_LIFETIME,
    });
  }
  const bare = await mintToken({
    privateKeyPem: privateKeyPem('es256'),
    org: 'demo',
    scopes: ['org:read'],
    sub: 'me',
    ttl: 60,
    now,
    claims: { refs: [['*', ['no-push']]] },
  });
  t.same(decodeProtectedHeader(bare), { alg: 'ES256', typ: 'JWT' });
  t.same(decodeJwt(bare), {
    iss: 'demo',
    sub: 'me',
    scopes: ['org:read'],
    iat,
    exp: iat + 60,
    refs: [['*', ['no-push']]],
  });
  const sec1 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' });
  await t.rejects(mintToken({ privateKeyPem: String(sec1), org: 'demo' }), /PKCS#8/, 'SEC1 is named as what is wrong');
  await t.rejects(mintToken({ privateKeyPem: '-----BEGIN PRIVATE KEY-----\nAA==\n', org: 'demo' }), /cannot be read/);
  const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  await t.rejects(mintToken({ privateKeyPem: String(ed25519), org: 'demo' }), /P-256/);
});

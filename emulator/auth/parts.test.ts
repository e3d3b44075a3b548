import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import { Problem } from '../http/problem.js';
import { type Claims, requireRepo, requireScopes } from './claims.js';
import { authorizationOf } from './credentials.js';
import { defaultFixtureKey, fixtureKeys, fixtureRing } from './fixture-keys.js';
import { JsonError, parseStrictJson } from './json-strict.js';
import { KeyRing, registerKey } from './keys.js';
import { DEFAULT_LIFETIME, mintToken } from './mint.js';
import { decide, needsSignedCommits, parsePolicy } from './policy.js';
import { Rejection } from './rejection.js';
import { type ProvenToken, TokenCache } from './token-cache.js';

function failure(run: () => unknown): Problem | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

t.test('strict JSON', async (t) => {
  t.same(parseStrictJson('{"a":{"a":[{"a":1},{"a":"\\"a\\":,{"}]},"b":"a","c":["a","a"]}'), {
    a: { a: [{ a: 1 }, { a: '"a":,{' }] },
    b: 'a',
    c: ['a', 'a'],
  });
  t.same(parseStrictJson(Buffer.from(' [1, "é", null] ')), [1, 'é', null]);
  t.equal(parseStrictJson('"a"'), 'a');
  t.ok(Object.hasOwn(parseStrictJson('{"__proto__":1}') as object, '__proto__'), '__proto__ is a name like any other');
  for (const text of ['{"a":1,"a":2}', '{"x":[{"a":1,"\\u0061":2}]}', '{"":1,"":1}', '{"__proto__":1,"__proto__":2}']) {
    t.throws(() => parseStrictJson(text), new JsonError('a member is named twice'), text);
  }
  for (const text of ['', '{', '{a:1}', "{'a':1}", '[1,]', '\ufeff{}', '01', 'NaN', '{} {}']) {
    t.throws(() => parseStrictJson(text), new JsonError('it is not JSON'), JSON.stringify(text));
  }
  t.throws(() => parseStrictJson(Buffer.from([0x22, 0xc0, 0xaf, 0x22])), new JsonError('it is not UTF-8'));
  t.throws(() => parseStrictJson(Buffer.from([0xef, 0xbb, 0xbf, 0x31])), new JsonError('it is not JSON'));
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  t.ok(parseStrictJson(nested(64)));
  t.throws(() => parseStrictJson(nested(65)), new JsonError('it is nested deeper than 64'));
  t.throws(() => parseStrictJson(nested(500_000)), new JsonError('it is nested deeper than 64'));
});

t.test('the Authorization header may be sent once', async (t) => {
  t.equal(authorizationOf(['Host', 'x', 'AUTHORIZATION', 'Bearer a']), 'Bearer a');
  t.equal(authorizationOf(['Host', 'authorization']), undefined, 'a value is not a name');
  t.equal(authorizationOf([]), undefined);
  const repeated = failure(() => authorizationOf(['Authorization', 'Bearer a', 'authorization', 'Bearer a']));
  t.match(repeated, { status: 400, code: 'bad_request', check: 'repeated' });
});

t.test('ref policies', async (t) => {
  const policy = parsePolicy(
    [
      ['refs/heads/main', ['no-push']],
      ['release/open', []],
      ['release/*', ['no-force-push', 'verify-sig']],
      ['refs/tags/*', ['no-push']],
    ],
    ['no-force-push'],
  );
  const rows: [ref: string, push: string | undefined, force: string | undefined][] = [
    ['refs/heads/main', 'denied by policy (no-push)', 'denied by policy (no-push)'],
    ['refs/heads/release/1', undefined, 'denied by policy (no-force-push)'],
    ['refs/heads/release/a/b', undefined, 'denied by policy (no-force-push)'],
    ['refs/heads/release/open', undefined, undefined],
    ['refs/heads/release', undefined, 'denied by policy (no-force-push)'],
    ['refs/heads/mainline', undefined, 'denied by policy (no-force-push)'],
    ['refs/tags/v1', 'denied by policy (no-push)', 'denied by policy (no-push)'],
    ['refs/notes/commits', undefined, 'denied by policy (no-force-push)'],
  ];
  for (const [ref, push, force] of rows) {
    t.equal(decide(policy, ref, 'push'), push, `${ref} push`);
    t.equal(decide(policy, ref, 'force'), force, `${ref} force`);
  }
  t.ok(needsSignedCommits(policy, 'refs/heads/release/1'));
  t.notOk(needsSignedCommits(policy, 'refs/heads/release/open'), 'an empty list allows everything');
  t.same(parsePolicy(undefined, undefined), []);
  t.equal(decide([], 'refs/heads/main', 'force'), undefined);
  t.equal(decide(parsePolicy([['*', ['no-push']]], undefined), 'refs/x', 'push'), 'denied by policy (no-push)');
  t.equal(decide(parsePolicy(undefined, ['no-push']), 'refs/x', 'push'), 'denied by policy (no-push)');
  const unreadable: [unknown, unknown][] = [
    ['main', undefined],
    [{}, undefined],
    [null, undefined],
    [['main'], undefined],
    [[['main']], undefined],
    [[['main', 'no-push']], undefined],
    [[['main', ['no-pull']]], undefined],
    [[['', []]], undefined],
    [[['rel-*', ['no-push']]], undefined],
    [[['*/x/*', ['no-push']]], undefined],
    [[[1, []]], undefined],
    [undefined, 'no-push'],
    [undefined, ['no-push', 'x']],
  ];
  for (const [refs, ops] of unreadable) {
    t.match(
      failure(() => parsePolicy(refs, ops)),
      { check: 'policy', code: 'forbidden' },
      JSON.stringify([refs, ops]),
    );
  }
});

t.test('scope and repository of an operation', async (t) => {
  const claims = { scopes: ['git:write', 'org:read'] } as unknown as Claims;
  t.equal(
    failure(() => requireScopes(claims, ['git:write'])),
    undefined,
  );
  t.equal(
    failure(() => requireScopes(claims, [])),
    undefined,
  );
  t.match(
    failure(() => requireScopes(claims, ['git:write', 'git:read'])),
    {
      status: 403,
      code: 'insufficient_scope',
      detail: 'The token lacks the scope git:read.',
      isInvalidToken: false,
    },
  );
  t.match(
    failure(() => requireRepo(claims)),
    { status: 400, code: 'repo_claim_missing' },
  );
  t.equal(requireRepo({ ...claims, repo: 'a' }), 'a');
});

t.test('the token cache is bounded and keeps what is used', async (t) => {
  const cache = new TokenCache(8);
  const proven = (name: string) => ({ key: name }) as unknown as ProvenToken;
  cache.set('kept', proven('kept'));
  for (let at = 0; at < 100; at++) {
    cache.set(`t${at}`, proven(`t${at}`));
    t.equal(cache.get('kept')?.key, 'kept' as never);
    t.ok(cache.size <= 8);
    t.ok(cache.get(`t${at}`));
  }
  t.equal(cache.get('t0'), undefined);
});

t.test('key rings', async (t) => {
  const ring = fixtureRing('demo', 0, 5);
  t.same(
    [...ring.all()].map((key) => [key.kid, key.algorithm, key.isRestricted, key.deletedAt]),
    [
      ['es256', 'ES256', false, undefined],
      ['es384', 'ES384', false, undefined],
      ['es512', 'ES512', false, undefined],
      ['rs256', 'RS256', false, undefined],
      ['restricted', 'ES256', true, undefined],
      ['deleted', 'ES256', false, 5],
    ],
  );
  t.same(
    [...fixtureRing('acme', 1, 5).all()].map((key) => key.kid),
    ['second'],
    'organizations share no key',
  );
  t.equal(ring.find('deleted'), undefined);
  t.same(
    ring.candidates('ES256').map((key) => key.kid),
    ['es256', 'restricted'],
  );
  const smaller = ring.without('es256', 9);
  t.equal(smaller.find('es256'), undefined);
  t.ok(ring.find('es256'), 'the ring it was made from is as it was');
  t.match(
    failure(() => smaller.without('es256', 9)),
    { code: 'not_found' },
  );
  t.match(
    failure(() => ring.with(ring.find('es256')!)),
    { code: 'conflict' },
  );
  t.ok(smaller.with(ring.find('es256')!).find('es256'), 'a deleted id can be registered again');
  t.same([...KeyRing.EMPTY.all()], []);
});

t.test('only public keys that can verify tokens are registered', async (t) => {
  const fields = { kid: 'k', organization: 'demo', allowedScopes: ['*'] } as const;
  const spki = (key: { export(options: { type: 'spki'; format: 'pem' }): string | Buffer }) =>
    String(key.export({ type: 'spki', format: 'pem' }));
  for (const row of fixtureKeys()) {
    const key = registerKey(fields, readFileSync(row.publicKeyFile, 'utf8'));
    t.equal(key.algorithm, row.algorithm, `${row.id} is what keys.json says`);
    const pair = createPublicKey(readFileSync(row.privateKeyFile, 'utf8'));
    t.ok(key.publicKey.equals(pair), 'and belongs to its private key');
  }
  const unfit = {
    'a private key': readFileSync(defaultFixtureKey().privateKeyFile, 'utf8'),
    nothing: '',
    Ed25519: spki(generateKeyPairSync('ed25519').publicKey),
    secp256k1: spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey),
    'RSA 1024': spki(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey),
  };
  for (const [title, pem] of Object.entries(unfit)) {
    t.match(
      failure(() => registerKey(fields, pem)),
      { code: 'unprocessable_entity' },
      title,
    );
  }
});

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

t.test('a rejection names its check in a sentence', async (t) => {
  t.equal(new Rejection('expired', 'exp has passed').detail, 'The token is invalid or expired: exp has passed.');
  t.equal(new Rejection('tenant', 'The credential is not valid for this tenant').isInvalidToken, false);
});

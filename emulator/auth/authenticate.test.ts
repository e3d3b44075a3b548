import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { Problem, type ProblemCode } from '../http/problem.js';
import { type AuthenticationRequest, Authenticator, type Verified } from './authenticate.js';
import { fixtureKeys, fixtureRing } from './fixture-keys.js';
import { type AllowedScopes, KeyRing, RegisteredKey, registerKey } from './keys.js';
import { type Check, Rejection } from './rejection.js';

// The abuse list for tokens, J1 to J22 and J24; the numbers are those of the threat list the titles quote.

const NOW = Date.UTC(2026, 0, 1);
const SECONDS = NOW / 1000;
const REPO = 'team/app';
const GOOD = { iss: 'demo', sub: 'tests', scopes: ['git:read'], repo: REPO, iat: SECONDS, exp: SECONDS + 3600 };

const fixtures = new Map(fixtureKeys().map((row) => [row.id, row]));
const privatePem = (id: string) => readFileSync(fixtures.get(id)!.privateKeyFile, 'utf8');
const publicPem = (id: string) => readFileSync(fixtures.get(id)!.publicKeyFile, 'utf8');
const privateKey = (id: string) => createPrivateKey(privatePem(id));
const rings = new Map([
  ['demo', fixtureRing('demo', 0, NOW)],
  ['acme', fixtureRing('acme', 1, NOW)],
]);

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

const HASHES: Record<string, string> = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512', RS256: 'sha256' };

function signed(input: string, alg: string, key: KeyObject): Buffer {
  return sign(HASHES[alg] ?? 'sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
}

/** A token from header and payload given as values or as literal JSON; `key` is a fixture's id or a key. */
function forge(
  payload: unknown = GOOD,
  header: unknown = { alg: 'ES256', typ: 'JWT' },
  key: string | KeyObject = 'es256',
  alg = (header as { alg?: string }).alg ?? 'ES256',
): string {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${signed(input, alg, typeof key === 'string' ? privateKey(key) : key).toString('base64url')}`;
}

function request(token: string, changes: Partial<AuthenticationRequest> = {}): AuthenticationRequest {
  return {
    authorization: `Bearer ${token}`,
    surface: 'api',
    tenant: 'demo',
    now: NOW,
    hosting: true,
    ringOf: (organization) => rings.get(organization),
    ...changes,
  };
}

const accept = (token: string, changes: Partial<AuthenticationRequest> = {}): Promise<Verified> =>
  new Authenticator().authenticate(request(token, changes));

/** Asserts that `token` fails exactly `check`, with the specification's words and without a piece of the token. */
async function denied(
  test: Test,
  token: string,
  check: Check,
  title: string,
  changes: Partial<AuthenticationRequest> = {},
): Promise<void> {
  const failure = await accept(token, changes).then(
    () => undefined,
    (error: unknown) => error,
  );
  test.ok(failure instanceof Rejection, `${title}: refused`);
  if (!(failure instanceof Rejection)) throw failure ?? new Error(`${title} was accepted`);
  test.equal(failure.check, check, title);
  if (failure.isInvalidToken) {
    test.match({ status: failure.status, code: failure.code }, { status: 403, code: 'forbidden' });
    test.match(failure.detail, /invalid or expired/);
  }
  for (const part of token.split('.')) {
    if (part.length > 4) test.notOk(failure.detail.includes(part), 'the detail does not repeat the token');
  }
}

/** The check that `run` fails, `undefined` when it passes. */
async function checkFailed(run: () => unknown): Promise<Check | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof Rejection) return error.check;
    throw error;
  }
}

/** The problem code that `run` throws. */
function codeOf(run: () => unknown): ProblemCode | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

t.test('every registered algorithm signs a token that is accepted', async (t) => {
  for (const [id, alg] of [
    ['es256', 'ES256'],
    ['es384', 'ES384'],
    ['es512', 'ES512'],
    ['rs256', 'RS256'],
  ] as const) {
    const { claims, key } = await accept(forge(GOOD, { alg, typ: 'JWT' }, id));
    t.equal(key.kid, id);
    t.match(claims, { iss: 'demo', sub: 'tests', repo: REPO, scopes: ['git:read'], policy: [] });
  }
});

t.test('J1: alg is one of four strings', async (t) => {
  const input = (alg: unknown) => `${encode({ alg, typ: 'JWT' })}.${encode(GOOD)}`;
  for (const alg of ['none', 'None', 'nOnE', '', undefined, ['ES256'], 256, null, '__proto__', 'constructor']) {
    await denied(t, `${input(alg)}.`, 'algorithm', `${JSON.stringify(alg)} without a signature`);
    await denied(t, `${input(alg)}.Z2FyYmFnZQ`, 'algorithm', `${JSON.stringify(alg)} with garbage`);
  }
  await denied(t, `${input('ES256')}.`, 'signature', 'ES256 with an empty signature');
});

t.test('J2: a public key is no HMAC secret', async (t) => {
  const pem = publicPem('es256');
  const key = createPublicKey(pem);
  const der = key.export({ type: 'spki', format: 'der' });
  const secrets = [pem, pem.trimEnd(), der, JSON.stringify(key.export({ format: 'jwk' })), der.toString('base64')];
  for (const alg of ['HS256', 'HS384', 'HS512']) {
    for (const secret of secrets) {
      const input = `${encode({ alg, typ: 'JWT' })}.${encode(GOOD)}`;
      const mac = createHmac(alg.replace('HS', 'sha'), secret).update(input).digest('base64url');
      await denied(t, `${input}.${mac}`, 'algorithm', alg);
    }
  }
});

t.test('J3: type and curve of the key have to fit alg', async (t) => {
  for (const [alg, kid] of [
    ['ES256', 'es384'],
    ['ES384', 'es256'],
    ['RS256', 'es256'],
    ['ES256', 'rs256'],
  ] as const) {
    await denied(t, forge(GOOD, { alg, typ: 'JWT', kid }, kid), 'algorithm', `${alg} with ${kid}`);
    await denied(t, forge(GOOD, { alg, typ: 'JWT' }, kid), 'signature', `${alg} with ${kid}, unnamed`);
  }
  for (const alg of ['PS256', 'RS384', 'ES256K', 'EdDSA']) {
    await denied(t, forge(GOOD, { alg, typ: 'JWT' }, 'rs256'), 'algorithm', alg);
  }
  const input = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(GOOD)}`;
  const pss = sign('sha256', Buffer.from(input), {
    key: privateKey('rs256'),
    padding: constants.RSA_PKCS1_PSS_PADDING,
  });
  await denied(t, `${input}.${pss.toString('base64url')}`, 'signature', 'RSASSA-PSS under RS256');
});

t.test('J4: an ECDSA signature is two numbers of full length, in range', async (t) => {
  const N = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
  const input = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(GOOD)}`;
  const good = signed(input, 'ES256', privateKey('es256'));
  const number = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const [r, s] = [good.subarray(0, 32), good.subarray(32)];
  const bad: Record<string, Buffer> = {
    DER: sign('sha256', Buffer.from(input), privateKey('es256')),
    '63 bytes': good.subarray(0, 63),
    '65 bytes': Buffer.concat([good, Buffer.alloc(1)]),
    'r = 0': Buffer.concat([number(0n), s]),
    's = 0': Buffer.concat([r, number(0n)]),
    'r = n': Buffer.concat([number(N), s]),
    's = n': Buffer.concat([r, number(N)]),
    's = n - 1': Buffer.concat([r, number(N - 1n)]),
    'r = s = 0': Buffer.alloc(64),
  };
  for (const [title, bytes] of Object.entries(bad)) {
    await denied(t, `${input}.${bytes.toString('base64url')}`, 'signature', title);
  }
  const mirrored = number(N - BigInt(`0x${s.toString('hex')}`));
  const malleable = `${input}.${Buffer.concat([r, mirrored]).toString('base64url')}`;
  t.equal((await accept(malleable)).key.kid, 'es256', 'the other of the two valid s is accepted');
});

t.test('J5, J7: keys come from the registry, never from what the token points at', async (t) => {
  let hits = 0;
  const canary = createServer((_request, response) => {
    hits++;
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => canary.once('listening', listening));
  const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/jwks.json`;
  const kids = ['../../etc/passwd', 'file:///etc/passwd', url, "' OR 1=1", '__proto__', 'constructor', '\0', ''];
  for (const kid of [...kids, 'k'.repeat(4096)]) {
    t.equal(
      (await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid }))).key.kid,
      'es256',
      'an unknown kid is no obstacle',
    );
  }
  for (const kid of [1, {}, null, ['es256'], true]) {
    await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', kid }), 'key-id', JSON.stringify(kid));
  }
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  for (const pointer of [{ jku: url }, { x5u: url }, { jwk }, { x5c: [encode(jwk)] }]) {
    await denied(
      t,
      forge(GOOD, { alg: 'ES256', typ: 'JWT', ...pointer }, stranger.privateKey),
      'signature',
      'a pointer',
    );
    t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', ...pointer })), 'and does no harm to a good token');
  }
  t.equal(hits, 0, 'nothing was fetched');
  canary.close();
});

t.test('J6: a kid that names a key leaves only that key', async (t) => {
  await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'restricted' }), 'signature', 'signed by another key');
  t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'es256' })));
  t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'deleted' })), 'a deleted key names nothing');
  await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'deleted' }, 'deleted'), 'signature', 'deleted key');
  await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT' }, 'deleted'), 'signature', 'deleted key, unnamed');
});

t.test('J8: critical extensions are not understood', async (t) => {
  for (const header of [
    { crit: ['b64'], b64: false },
    { b64: false },
    { crit: ['exp'] },
    { crit: [] },
    { crit: null },
  ]) {
    await denied(t, forge(GOOD, { alg: 'ES256', typ: 'JWT', ...header }), 'critical', JSON.stringify(header));
  }
});

t.test('J9: typ is JWT in any case', async (t) => {
  t.ok(await accept(forge(GOOD, { alg: 'ES256', typ: 'jwt' })));
  for (const typ of [undefined, 'at+jwt', 'JWE', '', 1, ['JWT']]) {
    await denied(t, forge(GOOD, { alg: 'ES256', typ }), 'type', JSON.stringify(typ) ?? 'missing');
  }
});

t.test('J10: times are finite numbers, and exp has to lie ahead', async (t) => {
  const withExp = (exp: unknown) => forge({ ...GOOD, iat: undefined, exp });
  await denied(t, withExp(SECONDS), 'expired', 'exp = now');
  await denied(t, withExp(SECONDS - 1), 'expired', 'exp = now - 1');
  await denied(t, withExp(-1), 'expired', 'a negative exp');
  t.ok(await accept(withExp(SECONDS + 1)));
  t.ok(await accept(withExp(SECONDS + 0.5)), 'half a second is left');
  t.ok(await accept(withExp(1e30)));
  for (const exp of [String(SECONDS + 60), 'NaN', [SECONDS + 60], true, null, {}]) {
    await denied(t, withExp(exp), 'times', `exp ${JSON.stringify(exp)}`);
  }
  const literal = (member: string) => forge(`{"iss":"demo","sub":"x","scopes":["git:read"],"repo":"a",${member}}`);
  await denied(t, literal('"exp":1e999'), 'times', 'exp 1e999');
  await denied(t, literal('"iat":-1e999'), 'times', 'iat -1e999');
  await denied(t, forge({ ...GOOD, iat: '1' }), 'times', 'iat as text');
  await denied(t, forge({ ...GOOD, iat: SECONDS + 60, exp: SECONDS + 60 }), 'times', 'exp = iat');
  await denied(t, forge({ ...GOOD, nbf: SECONDS + 1 }), 'not-yet-valid', 'nbf ahead');
  t.ok(await accept(forge({ ...GOOD, nbf: SECONDS })));
  t.ok(await accept(forge({ ...GOOD, exp: undefined, iat: undefined })), 'an unrestricted key needs neither');
  t.ok(await accept(forge({ ...GOOD, iat: SECONDS + 60 })), 'a future iat is not judged');
  t.ok(await accept(withExp(SECONDS - 5), { clockSkew: 10_000 }), 'within the tolerated skew');
  await denied(t, withExp(SECONDS - 10), 'expired', 'beyond the tolerated skew', { clockSkew: 10_000 });
});

t.test('J11: tokens of a restricted key live an hour and keep to its scopes', async (t) => {
  const restricted = (changes: object, kid?: string) =>
    forge({ ...GOOD, ...changes }, { alg: 'ES256', typ: 'JWT', kid }, 'restricted');
  t.equal((await accept(restricted({}))).key.kid, 'restricted', 'found by trying, its rules apply');
  t.ok(await accept(restricted({ exp: SECONDS + 3600 }, 'restricted')));
  const refused: [object, string][] = [
    [{ exp: SECONDS + 3601 }, 'one second too long'],
    [{ iat: undefined }, 'no iat'],
    [{ exp: undefined }, 'no exp'],
    [{ exp: SECONDS + 60.5 }, 'a fraction of a second'],
    [{ scopes: ['git:read', 'git:write'] }, 'a scope outside the list, even if the operation does not need it'],
  ];
  for (const [changes, title] of refused) {
    await denied(t, restricted(changes), 'restricted-key', title);
    await denied(t, restricted(changes, 'restricted'), 'restricted-key', `${title}, named`);
  }
});

t.test('J12: an unrestricted key knows no longest life', async (t) => {
  for (const years of [1, 100]) t.ok(await accept(forge({ ...GOOD, exp: SECONDS + years * 31_536_000 })));
});

t.test('J13: a member that is named twice makes the token unreadable', async (t) => {
  const claims = JSON.stringify(GOOD).slice(0, -1);
  for (const payload of [
    `${claims},"repo":"other"}`,
    `${claims},"scopes":["git:write"]}`,
    `${claims},"r\\u0065po":"b"}`,
  ]) {
    await denied(t, forge(payload), 'structure', payload.slice(-30));
  }
  await denied(t, forge(GOOD, '{"alg":"none","alg":"ES256","typ":"JWT"}', 'es256', 'ES256'), 'structure', 'alg twice');
  t.ok(
    await accept(forge({ ...GOOD, extra: { a: [{ b: 1 }, { b: 2 }], b: 'repo' } })),
    'the same name in other objects',
  );
});

t.test('J14: scopes is a list of exact names', async (t) => {
  const bad = [
    'git:read',
    ['GIT:READ'],
    ['git:read '],
    ['*'],
    [],
    [['git:read']],
    null,
    undefined,
    {},
    [1],
    ['git:admin'],
  ];
  for (const scopes of bad) await denied(t, forge({ ...GOOD, scopes }), 'scopes', JSON.stringify(scopes) ?? 'missing');
  await denied(t, forge({ ...GOOD, scopes: ['git:read', 'git:admin'] }), 'scopes', 'one unknown among known');
  await denied(t, forge({ ...GOOD, scopes: new Array(500).fill('git:read') }), 'scopes', '500 entries');
  const deploying = forge({ ...GOOD, scopes: ['deployment:read'] });
  t.ok(await accept(deploying), 'deployment scopes are known while hosting is enabled');
  await denied(t, deploying, 'scopes', 'deployment scopes without hosting', { hosting: false });
});

t.test('J15: the repo claim is one string, and every scope but org:read needs it', async (t) => {
  for (const repo of [1, ['team/app'], null, {}, true]) {
    await denied(t, forge({ ...GOOD, repo }), 'repo', JSON.stringify(repo));
  }
  for (const repo of ['', ' ', 'é', 'e\u0301', '/', '..', 'a%2Fb', 'x'.repeat(4096)]) {
    t.equal((await accept(forge({ ...GOOD, repo }))).claims.repo, repo, 'taken as it is');
  }
  for (const scopes of [['git:read'], ['git:write'], ['repo:write'], ['org:read', 'git:read'], ['deployment:read']]) {
    const failure = await accept(forge({ ...GOOD, repo: undefined, scopes })).catch((error: unknown) => error);
    t.match(failure, { check: 'repo-missing', status: 400, code: 'repo_claim_missing', isInvalidToken: false });
  }
  t.equal((await accept(forge({ ...GOOD, repo: undefined, scopes: ['org:read'] }))).claims.repo, undefined);
});

t.test('iss, sub: missing or of another type', async (t) => {
  for (const iss of [undefined, null, 1, ['demo'], '', 'no-such-org', 'Demo', '__proto__']) {
    await denied(t, forge({ ...GOOD, iss }), 'issuer', `iss ${JSON.stringify(iss)}`);
  }
  for (const sub of [undefined, null, 1]) await denied(t, forge({ ...GOOD, sub }), 'subject', `sub ${sub}`);
});

t.test('J18: Basic on the Git surface only, any user name, the password is the token', async (t) => {
  const token = forge();
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
  for (const user of ['t', '', 'anybody', 'ü']) {
    t.ok(await accept('', { surface: 'git', authorization: basic(`${user}:${token}`) }), `user ${user}`);
  }
  t.ok(await accept('', { surface: 'git', authorization: `Bearer ${token}` }));
  t.ok(await accept('', { authorization: `bEARER   ${token} ` }), 'the scheme in any case, spaces in any number');
  for (const authorization of [
    undefined,
    '',
    'Basic',
    basic(`${token}:`),
    basic(token),
    'Basic %%%',
    'Token x',
    token,
  ]) {
    const changes = { surface: 'git' as const, authorization };
    const failure = await accept('', changes).catch((error: unknown) => error);
    t.match(failure, { status: 401, code: 'unauthorized', isInvalidToken: false });
    t.match((failure as Rejection).options.headers, { 'www-authenticate': /^Basic realm=/ });
  }
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    basic(`t:${token}`),
    'Token x',
    token,
    'Bearer\tx',
  ]) {
    const failure = await accept('', { authorization }).catch((error: unknown) => error);
    t.match(failure, { status: 401, code: 'unauthorized' });
    t.match((failure as Rejection).options.headers, { 'www-authenticate': 'Bearer' });
  }
});

t.test('J20: a good token of another organization is not valid for this tenant', async (t) => {
  const foreign = forge({ ...GOOD, iss: 'acme' }, { alg: 'ES256', typ: 'JWT' }, 'second');
  const failure = await accept(foreign).catch((error: unknown) => error);
  t.match(failure, { check: 'tenant', status: 403, code: 'forbidden', detail: /not valid for this tenant/ });
  t.ok(await accept(foreign, { tenant: 'acme' }));
  await denied(t, forge(GOOD, undefined, 'second'), 'signature', 'iss of one organization, key of the other');
  await denied(t, forge({ ...GOOD, iss: 'acme' }), 'signature', 'and the other way round', { tenant: 'acme' });
});

t.test('J21: a proven token is judged anew at every use', async (t) => {
  const authenticator = new Authenticator();
  let ring = rings.get('demo')!;
  const ask = (changes: Partial<AuthenticationRequest> = {}) =>
    request(forgeOnce, { ringOf: (name) => (name === 'demo' ? ring : rings.get(name)), ...changes });
  const forgeOnce = forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'later' });
  t.equal(authenticator.recall(ask()), undefined, 'an unknown token has to be proven');
  await authenticator.authenticate(ask());
  t.equal(authenticator.recall(ask())?.claims.repo, REPO, 'then it is recalled');
  t.equal(await checkFailed(() => authenticator.recall(ask({ now: NOW + 3_600_000 }))), 'expired');
  t.equal(await checkFailed(() => authenticator.recall(ask({ tenant: 'acme' }))), 'tenant');
  t.equal(authenticator.recall(ask({ surface: 'git' }))?.key.kid, 'es256', 'Bearer serves both surfaces');
  const withoutKey = ring.without('es256', NOW);
  ring = withoutKey;
  t.equal(authenticator.recall(ask()), undefined, 'a deleted key proves nothing');
  t.equal(await checkFailed(() => authenticator.authenticate(ask())), 'signature');
  ring = rings
    .get('demo')!
    .with(
      new RegisteredKey({ kid: 'later', organization: 'demo', algorithm: 'ES256', allowedScopes: ['*'] }, () =>
        createPublicKey(publicPem('second')),
      ),
    );
  t.equal(await checkFailed(() => authenticator.authenticate(ask())), 'signature', 'a key registered later decides');
  ring = rings.get('demo')!;
  t.ok(await authenticator.authenticate(ask()), 'and the state that was restored accepts it again');
});

t.test('J21: a Basic credential that was proven for Git is still no credential for the API', async (t) => {
  const authenticator = new Authenticator();
  const authorization = `Basic ${Buffer.from(`t:${forge()}`).toString('base64')}`;
  await authenticator.authenticate(request('', { surface: 'git', authorization }));
  t.ok(authenticator.recall(request('', { surface: 'git', authorization })));
  t.equal(authenticator.recall(request('', { authorization })), undefined);
  t.equal(await checkFailed(() => authenticator.authenticate(request('', { authorization }))), 'scheme');
});

t.test('J21: a key that became restricted binds tokens proven before', async (t) => {
  const authenticator = new Authenticator();
  const ringWith = (allowedScopes: AllowedScopes) =>
    KeyRing.of([registerKey({ kid: 'k', organization: 'demo', allowedScopes }, publicPem('es256'))]);
  let ring = ringWith(['*']);
  const ask = request(forge(), { ringOf: () => ring });
  await authenticator.authenticate(ask);
  ring = ringWith(['org:read']);
  t.equal(await checkFailed(() => authenticator.authenticate(ask)), 'restricted-key');
});

t.test('J22: a full ring is tried within bounds, and only keys that fit', async (t) => {
  let loaded = 0;
  const strangers = Array.from({ length: KeyRing.CAPACITY - 1 }, (_, at) => {
    const fields = { kid: `p521-${at}`, organization: 'demo', algorithm: 'ES512', allowedScopes: ['*'] } as const;
    return new RegisteredKey(fields, () => {
      loaded++;
      return createPublicKey(publicPem('es512'));
    });
  });
  const ring = KeyRing.of([
    ...strangers,
    registerKey({ kid: 'last', organization: 'demo', allowedScopes: ['*'] }, publicPem('es256')),
  ]);
  const { key } = await accept(forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'unknown' }), { ringOf: () => ring });
  t.equal(key.kid, 'last');
  t.equal(loaded, 0, 'keys of another curve were not even read');
  t.equal(
    codeOf(() => ring.with(strangers[0]!)),
    'conflict',
  );
  t.equal(
    codeOf(() => ring.without('last', NOW).with(strangers[0]!).with(strangers[1]!)),
    'conflict',
  );
});

t.test('structure: three strict base64url parts of strict JSON objects', async (t) => {
  const [header, payload, signature] = forge().split('.') as [string, string, string];
  const bad: Record<string, string> = {
    'one part': 'garbage',
    'two parts': `${header}.${payload}`,
    'four parts': `${header}.${payload}.${signature}.`,
    'five parts, as JWE': `${header}.a.b.c.${signature}`,
    padding: `${header}.${payload}.${signature}==`,
    'standard alphabet': `${header}.${payload}.${signature.slice(0, -1)}+`,
    'space inside': `${header}.${payload.slice(0, 4)} ${payload.slice(4)}.${signature}`,
    'unused bits set': `${header}.${payload}.${signature.slice(0, -1)}${signature.endsWith('B') ? 'C' : 'B'}`,
    'a header that is no object': `${encode([])}.${payload}.${signature}`,
    'a payload that is no object': `${header}.${encode('1')}.${signature}`,
    'a byte order mark': `${header}.${encode(`\ufeff${JSON.stringify(GOOD)}`)}.${signature}`,
    'malformed UTF-8': `${header}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]).toString('base64url')}.${signature}`,
    'no JSON': `${header}.${encode('{')}.${signature}`,
    'nesting of 1000': `${header}.${encode(`{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`)}.${signature}`,
    'a megabyte': 'a'.repeat(1 << 20),
  };
  for (const [title, token] of Object.entries(bad)) await denied(t, token, 'structure', title);
  const tampered = `${header}.${encode({ ...GOOD, repo: 'other' })}.${signature}`;
  await denied(t, tampered, 'signature', 'a payload that was changed after signing');
});

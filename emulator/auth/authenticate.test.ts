import t from 'tap';
import { type AuthenticationRequest, Authenticator } from './authenticate.js';
import { type AllowedScopes, KeyRing } from './keys.js';
import type { Rejection } from './rejection.js';
import {
  accept,
  checkFailed,
  denied,
  forge,
  GOOD,
  NOW,
  REPO,
  registered,
  request,
  rings,
  SECONDS,
} from './test/forge.js';

t.test('times must be finite numbers, and exp must be in the future', async (t) => {
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
  t.ok(await accept(forge({ ...GOOD, iat: SECONDS + 60 })), 'a future iat is not checked');
});

t.test('tokens of a restricted key are limited to one hour and to its allowed scopes', async (t) => {
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

t.test('an unrestricted key has no maximum lifetime', async (t) => {
  for (const years of [1, 100]) t.ok(await accept(forge({ ...GOOD, exp: SECONDS + years * 31_536_000 })));
});

t.test('a repeated JSON member makes the token invalid', async (t) => {
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

t.test('scopes must be an array of exact scope names', async (t) => {
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
  const many = (count: number) => forge({ ...GOOD, scopes: new Array(count).fill('git:read') });
  t.ok(await accept(many(64)), 'as many as may be');
  await denied(t, many(65), 'scopes', 'one more');
  const deploying = forge({ ...GOOD, scopes: ['deployment:read'] });
  t.ok(await accept(deploying), 'deployment scopes are known while hosting is enabled');
  await denied(t, deploying, 'scopes', 'deployment scopes without hosting', { hosting: false });
});

t.test('the repo claim is one string, and every scope but org:read needs it', async (t) => {
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

t.test('Basic on the Git surface only, any user name, the password is the token', async (t) => {
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

t.test('a good token of another organization is not valid for this tenant', async (t) => {
  const foreign = forge({ ...GOOD, iss: 'acme' }, { alg: 'ES256', typ: 'JWT' }, 'second');
  const failure = await accept(foreign).catch((error: unknown) => error);
  t.match(failure, { check: 'tenant', status: 403, code: 'forbidden', detail: /not valid for this tenant/ });
  t.ok(await accept(foreign, { tenant: 'acme' }));
  await denied(t, forge(GOOD, undefined, 'second'), 'signature', 'iss of one organization, key of the other');
  await denied(t, forge({ ...GOOD, iss: 'acme' }), 'signature', 'and the other way round', { tenant: 'acme' });
});

t.test('a verified token is checked again on every use', async (t) => {
  const authenticator = new Authenticator();
  let ring = rings.get('demo')!;
  const ask = (changes: Partial<AuthenticationRequest> = {}) =>
    request(forgeOnce, { ringOf: (name) => (name === 'demo' ? ring : rings.get(name)), ...changes });
  const forgeOnce = forge(GOOD, { alg: 'ES256', typ: 'JWT', kid: 'later' });
  t.equal(authenticator.recall(ask()), undefined, 'an unknown token must be proven');
  await authenticator.prove(ask());
  t.equal(authenticator.recall(ask())?.claims.repo, REPO, 'then it is recalled');
  t.equal(await checkFailed(() => authenticator.recall(ask({ now: NOW + 3_600_000 }))), 'expired');
  t.equal(await checkFailed(() => authenticator.recall(ask({ tenant: 'acme' }))), 'tenant');
  t.equal(authenticator.recall(ask({ surface: 'git' }))?.key.kid, 'es256', 'Bearer serves both surfaces');
  const authenticate = async () => authenticator.recall(ask()) ?? (await authenticator.prove(ask()));
  ring = new KeyRing(['es384', 'restricted'].map((kid) => ring.find(kid)!));
  t.equal(authenticator.recall(ask()), undefined, 'a deleted key proves nothing');
  t.equal(await checkFailed(authenticate), 'signature');
  ring = new KeyRing([rings.get('demo')!.find('es256')!, registered('later', 'second')]);
  t.equal(await checkFailed(authenticate), 'signature', 'a key registered later decides');
  ring = rings.get('demo')!;
  t.ok(await authenticate(), 'and the state that was restored accepts it again');
});

t.test('a Basic credential that was verified for Git is refused by the API', async (t) => {
  const authenticator = new Authenticator();
  const authorization = `Basic ${Buffer.from(`t:${forge()}`).toString('base64')}`;
  await authenticator.prove(request('', { surface: 'git', authorization }));
  t.ok(authenticator.recall(request('', { surface: 'git', authorization })));
  t.equal(authenticator.recall(request('', { authorization })), undefined);
  t.equal(await checkFailed(() => authenticator.prove(request('', { authorization }))), 'scheme');
});

t.test('a token in another header is verified once, and its claims are the same', async (t) => {
  let proofs = 0;
  const key = new Proxy(rings.get('demo')!.find('es256')!, {
    get(target, name) {
      if (name === 'publicKey') proofs++;
      return Reflect.get(target, name, target);
    },
  });
  let ring = new KeyRing([key]);
  const authenticator = new Authenticator();
  const token = forge();
  const changes = { surface: 'git' as const, ringOf: () => ring };
  const basic = (user: string) => `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
  const bearer = await authenticator.prove(request(token, changes));
  const others = [];
  for (const user of ['t', 'x-token']) {
    others.push(await authenticator.prove(request('', { ...changes, authorization: basic(user) })));
  }
  t.equal(proofs, 1);
  for (const other of others) {
    t.same(other.claims, bearer.claims);
    t.not(other.claims, bearer.claims, 'claims tell which header they came in');
  }
  for (const authorization of [token, `Token ${token}`]) {
    t.equal(await checkFailed(() => authenticator.prove(request('', { ...changes, authorization }))), 'scheme');
  }
  const late = request('', { ...changes, authorization: basic('late'), now: NOW + 3_600_000 });
  t.equal(await checkFailed(() => authenticator.prove(late)), 'expired');
  ring = new KeyRing([rings.get('demo')!.find('es384')!]);
  const afterwards = request('', { ...changes, authorization: basic('afterwards') });
  t.equal(await checkFailed(() => authenticator.prove(afterwards)), 'signature', 'the key is gone');
});

t.test('a key that becomes restricted also restricts tokens that were verified before', async (t) => {
  const authenticator = new Authenticator();
  const ringWith = (allowedScopes: AllowedScopes) => new KeyRing([registered('k', 'es256', allowedScopes)]);
  let ring = ringWith(['*']);
  const ask = request(forge(), { ringOf: () => ring });
  await authenticator.prove(ask);
  ring = ringWith(['org:read']);
  t.equal(authenticator.recall(ask), undefined);
  t.equal(await checkFailed(() => authenticator.prove(ask)), 'restricted-key');
});

import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { decodeJwt } from 'jose';
import { getRepo } from '../../api/requests.js';
import type { KeyRole, TokenRecipe } from '../../auth/tokens.js';
import { askAdmin, inNamespace } from '../../check/admin.js';
import { expectCode, expectMatch, expectSame, expectStatus, expectSuccess } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import type { SigningKey } from '../../target/keys.js';
import type { Target } from '../../target/target.js';
import { documentedOperation, type TokenPlace } from '../documented-operations.js';
import { defineRules, rulesBy } from '../rule.js';
import { everyPlace, expectTokenRefused, forEachPlace } from '../token-places.js';
import {
  acceptsToken,
  acceptToken,
  idOf,
  READING,
  readWithToken,
  refuseTokens,
  refuseTokensAtSome,
  rejectsTokens,
  UNKNOWN_KID,
  withKid,
} from './token-checks.js';
import { runTokenHelper, withKeyFile } from './token-helper.js';

/** Changes a claim of the token and keeps its signature, which then belongs to other claims. */
function withOtherClaims(token: string): string {
  const [header, , signature] = token.split('.');
  const claims = JSON.stringify({ ...decodeJwt(token), sub: 'Conformance' });
  return `${header}.${Buffer.from(claims).toString('base64url')}.${signature}`;
}

export const authentication = defineRules('Authentication', 'authentication', [
  rejectsTokens(
    'key.signature.verified',
    'A token signed by an unregistered key is rejected.',
    [{ defect: 'foreign-key' }],
    {
      clauses: {
        kid: 'A kid that names a registered key does not replace the signature of that key.',
        'embedded-key': 'A public key in the header of the token verifies nothing.',
        everywhere: 'Every operation verifies the signature, on each route of published clients.',
      },
      alsoRejects: (t) => [withKid(t, { defect: 'foreign-key' }), { defect: 'embedded-key' }],
      everywhere: { defect: 'foreign-key' },
    },
  ),
  {
    id: 'key.signature.tampered',
    says: 'A token whose claims were changed after signing is rejected.',
    clauses: {
      'after-valid': 'A changed signature is rejected even if the token with the right signature was accepted before.',
      'signature-seen': 'Changed claims are rejected even if the token that had their signature was accepted before.',
    },
    writes: 'where-allowed',
    check: async (t) => {
      await refuseTokens(t, { defect: 'tampered' });
      // Fixed times make header and claims of both tokens equal.
      const recipe = { claims: { iat: t.seconds, exp: t.seconds + 600 } };
      await acceptToken(t, recipe);
      await refuseTokensAtSome(t, { ...recipe, defect: 'other-signature' });
      const isTried = ({ name }: TokenPlace) => READING.includes(name);
      await forEachPlace(t, isTried, async ({ place, repo, askWithout, headerWith }) => {
        const send = (token: string) => askWithout({ headers: { authorization: headerWith(token) } });
        const token = t.run.signer.sign({ repo, scopes: [place.scope] });
        expectStatus(await send(token), 200);
        expectTokenRefused(t, place, await send(withOtherClaims(token)));
      });
    },
  },
]);

/** Expects read-only endpoints, and commit-pack if the suite may write, to accept a token of this recipe. */
async function acceptKey(t: RuleContext, recipe: TokenRecipe): Promise<void> {
  await acceptToken(t, recipe);
  if (!t.target.write) return;
  const isTried = ({ name }: TokenPlace) => name === 'pack';
  await forEachPlace(t, isTried, async ({ ask }) => void expectStatus(await ask(recipe), 201));
}

export const keys = defineRules('Keys', 'keys', [
  acceptsToken('key.ec-p256', 'Tokens signed by an EC P-256 key are accepted.', { key: 'ES256' }),
  ...rulesBy(
    acceptKey,
    [
      ['key.ec-p384', 'Tokens signed by an EC P-384 key are accepted.', { key: 'ES384' }],
      ['key.ec-p521', 'Tokens signed by an EC P-521 key are accepted.', { key: 'ES512' }],
      ['key.rsa', 'Tokens signed by an RSA key are accepted.', { key: 'RS256' }],
    ],
    {
      reach: 'needs-setup',
      writes: 'where-allowed',
      clauses: { writes: 'A token signed by such a key may write if it has the scope.' },
    },
  ),
  {
    id: 'key.pkcs8',
    says: 'The service accepts tokens that the token helper of this package signs with a PKCS#8 PEM key. The helper rejects other formats with a reason.',
    reach: 'emulator',
    check: async (t) => {
      const { name } = await sampleRepository(t);
      const { file } = t.target.key;
      if (!existsSync(file)) throw new Skip('needs the key in a file: --key');
      const made = await runTokenHelper(t, file, name);
      expectSame(made.code, 0, `a token must be created (${made.complaint})`);
      const headers = { authorization: `Bearer ${made.out}` };
      expectStatus(await getRepo(t, name, { as: undefined, headers }), 200);
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
      const sec1 = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
      const refused = await withKeyFile(sec1, (key) => runTokenHelper(t, key, name));
      expectSame([refused.code, refused.out], [2, ''], 'a key in another form must be refused with exit code 2');
      expectMatch(refused.complaint, /PKCS#8/, 'the error message must name PKCS#8');
    },
  },
  {
    id: 'key.unrestricted',
    says: 'An unrestricted key can sign tokens for every scope.',
    writes: true,
    check: async (t) => {
      for (const name of ['repo', 'pack', 'create-repo', 'meta']) {
        const operation = documentedOperation(name);
        const repo = await operation.repo(t);
        expectSuccess(await operation.send(t, repo, { as: { repo, scopes: [operation.scope] } }));
      }
    },
  },
  ...rulesBy(
    acceptToken,
    [['key.restricted', 'A restricted key can sign tokens for the scopes in its allowlist.', { key: 'restricted' }]],
    { reach: 'needs-setup' },
  ),
  {
    id: 'key.rotation.new',
    says: 'A newly registered key works beside the earlier ones.',
    reach: 'needs-setup',
    check: async (t) => {
      for (const key of ['main' as const, anotherRole(t)]) expectStatus(await readWithToken(t, { key }), 200);
    },
  },
  rejectsTokens('key.rotation.deleted', 'A token signed by a deleted key is rejected.', [{ key: 'deleted' }], {
    reach: 'needs-setup',
    clauses: { kid: 'The key is rejected even if the kid of the token still names it.' },
    alsoRejects: (t) => {
      const kid = idOf(t, 'deleted');
      return [kid === undefined ? undefined : { key: 'deleted', header: { kid } }];
    },
  }),
  {
    id: 'key.rotation.in-use',
    says: 'A token that was accepted is rejected as soon as its key is deleted.',
    reach: 'emulator',
    writes: true,
    check: checkDeletion,
  },
]);

/** Allowed scopes of the key that `checkDeletion` registers and deletes. */
const DELETED_KEY_SCOPES = ['git:read', 'org:read'];

/**
 * Registers a key in a namespace (isolated state of the emulator), checks that its tokens are accepted, and deletes the
 * key. Then expects the same tokens to be refused, and tokens of the other key to be accepted.
 */
async function checkDeletion(t: RuleContext): Promise<void> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = 'deleted-by-the-suite';
  const key: SigningKey = { file: `${id}.pem`, algorithm: 'ES256', privateKey, id, allowedScopes: DELETED_KEY_SCOPES };
  const check = async (inner: RuleContext) => {
    const claims = { iat: inner.seconds, exp: inner.seconds + 600 };
    await acceptToken(inner, { key: 'restricted', claims });
    await askAdmin(inner, 'DELETE', `/keys/${id}?organization=${encodeURIComponent(inner.target.org)}`);
    await refuseTokensAtSome(inner, { key: 'restricted', claims });
    expectStatus(await readWithToken(inner, {}), 200);
  };
  await inNamespace(t, {}, check, key);
}

const UNLISTED = ['PS256', 'RS384', 'RS512', 'EdDSA', 'ES256K'];

/** Returns the id under which a key is registered at the target. Skips the rule if the id is unknown. */
function mustKnowId(t: RuleContext, role: KeyRole): string {
  t.key(role);
  const id = idOf(t, role);
  if (id === undefined) throw new Skip('needs the id under which the key is registered: --key-id');
  return id;
}

/** Returns an algorithm that tokens may use, but that does not belong to the main key of the target. */
function otherAlgorithm({ key }: Target): string {
  return key.algorithm === 'ES384' ? 'ES256' : 'ES384';
}

/**
 * Returns the role of another unrestricted key that is registered at the target. Skips the rule if there is only the
 * main key.
 */
function anotherRole(t: RuleContext): KeyRole {
  const other = t.target.otherKeys[0];
  if (other === undefined) throw new Skip('needs a second registered key: --other-key');
  return other.algorithm;
}

/** Returns recipes of tokens whose `kid` names the key that signed them: one for each known key but the main one. */
function signedByOthers(t: RuleContext): readonly TokenRecipe[] {
  const { otherKeys, restrictedKey } = t.target;
  const roles: KeyRole[] = otherKeys.map(({ algorithm }) => algorithm);
  if (restrictedKey?.allowedScopes?.includes('git:read')) roles.push('restricted');
  return roles.flatMap((key) => withKid(t, { key }, key) ?? []);
}

export const tokenHeader = defineRules('Token header', 'token-header', [
  {
    id: 'jwt.alg.list',
    says: 'Algorithms other than ES256, ES384, ES512 and RS256 are rejected.',
    clauses: { letters: 'The name of an algorithm in lower case is another name.' },
    writes: 'where-allowed',
    check: async (t) => {
      expectStatus(await readWithToken(t, {}), 200);
      const rsa = t.run.signer.key('RS256') === undefined ? 'main' : 'RS256';
      for (const [index, alg] of UNLISTED.entries()) {
        const key = alg.startsWith('E') ? 'main' : rsa;
        // Only one algorithm is tried at every endpoint, because endpoints hardly differ in their list of algorithms.
        const refuse = index === 0 ? refuseTokens : refuseTokensAtSome;
        await refuse(t, { header: { alg }, defect: 'algorithm', key });
      }
      await refuseTokensAtSome(t, { header: { alg: t.target.key.algorithm.toLowerCase() }, defect: 'mislabelled' });
    },
  },
  rejectsTokens('jwt.alg.none', 'An unsigned token (alg none) is rejected.', [{ defect: 'unsigned' }], {
    clauses: {
      letters: 'A token with alg None or NONE is rejected.',
      signed: 'A token with alg none is rejected even if it has a signature.',
      stripped: 'A token whose signature was removed is rejected, whatever its alg is.',
      kid: 'An unsigned token whose kid names a registered key is rejected.',
    },
    alsoRejects: (t) => [
      { defect: 'unsigned', header: { alg: 'None' } },
      { defect: 'unsigned', header: { alg: 'NONE' } },
      { defect: 'mislabelled', header: { alg: 'none' } },
      { defect: 'unsigned', header: { alg: t.target.key.algorithm } },
      withKid(t, { defect: 'unsigned' }),
    ],
  }),
  rejectsTokens(
    'jwt.alg.hs256',
    'An HMAC token whose secret is the text of the public key is rejected.',
    [{ defect: 'hmac-public-key' }],
    {
      clauses: {
        longer: 'A token with alg HS384 or HS512 and this secret is rejected.',
        kid: 'The token is also rejected if its kid names the registered key.',
      },
      alsoRejects: (t) => [
        { defect: 'hmac-public-key', header: { alg: 'HS384' } },
        { defect: 'hmac-public-key', header: { alg: 'HS512' } },
        withKid(t, { defect: 'hmac-public-key' }),
      ],
    },
  ),
  rejectsTokens('jwt.alg.missing', 'A token whose header has no alg is rejected.', [{ header: { alg: null } }], {
    clauses: {
      empty: 'A token whose alg is an empty text is rejected.',
      kid: 'A token without alg whose kid names the key that signed it is rejected.',
    },
    alsoRejects: (t) => [{ header: { alg: '' } }, withKid(t, { header: { alg: null } })],
  }),
  rejectsTokens(
    'jwt.alg.key-mismatch',
    'A token whose alg does not fit the key is rejected.',
    [(_, { target }) => ({ header: { alg: otherAlgorithm(target) }, defect: 'mislabelled' })],
    {
      clauses: {
        curve:
          'A signature by an EC key whose curve is not the one of alg is rejected, even if the hash function is right.',
        kid: 'The token is also rejected if its kid names the key that signed it.',
      },
      alsoRejects: (t) => {
        const alg = otherAlgorithm(t.target);
        return [
          { header: { alg }, defect: 'wrong-curve' },
          withKid(t, { header: { alg }, defect: 'wrong-curve' }),
          withKid(t, { header: { alg }, defect: 'mislabelled' }),
        ];
      },
    },
  ),
  acceptsToken('jwt.typ.jwt', 'A token with typ JWT is accepted.', { header: { typ: 'JWT' } }),
  {
    id: 'jwt.typ.missing',
    says: 'A token without typ, or with another typ than JWT, is rejected.',
    level: 'SHOULD',
    check: async (t) => {
      for (const typ of [null, 'at+jwt']) {
        const response = await readWithToken(t, { header: { typ } });
        t.tolerate('A32', `typ ${typ ?? 'missing'}`, response, ['403 forbidden', '401 unauthorized', '200']);
      }
    },
  },
  {
    id: 'jwt.kid.absent',
    says: 'Without kid, every registered key is tried.',
    reach: 'needs-setup',
    check: async (t) => {
      for (const key of ['main' as const, anotherRole(t)])
        expectStatus(await readWithToken(t, { header: { kid: null }, key }), 200);
    },
  },
  {
    id: 'jwt.kid.match',
    says: 'A token whose kid names the key that signed it is accepted.',
    clauses: { 'other-key': 'The kid may name another registered key than the first.' },
    check: async (t) => {
      expectStatus(await readWithToken(t, { header: { kid: mustKnowId(t, 'main') } }), 200);
      for (const recipe of signedByOthers(t)) expectStatus(await readWithToken(t, recipe), 200);
    },
  },
  rejectsTokens(
    'jwt.kid.match-wrong-signature',
    'A token whose kid names a registered key, but which another registered key signed, is rejected.',
    [(_, t) => ({ key: anotherRole(t), header: { kid: mustKnowId(t, 'main') } })],
    {
      reach: 'needs-setup',
      clauses: {
        'same-algorithm': 'The token is also rejected if both keys have the same algorithm.',
        'other-kid': 'The kid may name any registered key other than the one that signed the token.',
        'restricted-kid': 'The token is also rejected if its kid names a restricted key.',
      },
      alsoRejects: (t) => {
        const { key, restrictedKey } = t.target;
        return [
          restrictedKey?.algorithm === key.algorithm ? withKid(t, { key: 'restricted' }) : undefined,
          withKid(t, {}, anotherRole(t)),
          withKid(t, {}, 'restricted'),
        ];
      },
    },
  ),
  {
    id: 'jwt.kid.unknown',
    says: 'With an unknown kid, every registered key is tried.',
    clauses: {
      'other-key': 'A key other than the first is tried as well.',
      restricted: 'A restricted key is tried as well.',
    },
    check: async (t) => {
      await acceptToken(t, { header: UNKNOWN_KID });
      for (const { algorithm: key } of t.target.otherKeys) {
        expectStatus(await readWithToken(t, { header: UNKNOWN_KID, key }), 200);
      }
      if (t.target.restrictedKey?.allowedScopes?.includes('git:read'))
        expectStatus(await readWithToken(t, { header: UNKNOWN_KID, key: 'restricted' }), 200);
    },
  },
  {
    id: 'jwt.kid.deleted',
    says: 'The specification does not say how a token with the kid of a deleted key is treated.',
    level: 'UNSPECIFIED',
    reach: 'needs-setup',
    check: async (t) => t.observe('outcome', await readWithToken(t, { header: { kid: mustKnowId(t, 'deleted') } })),
  },
  {
    id: 'jwt.malformed',
    says: 'A bearer value that is not a JWT is rejected.',
    writes: 'where-allowed',
    check: async (t) => {
      for (const value of ['abc', 'a.b', 'a.b.c', 'e30.e30.e30', 'a.b.c.d.e']) {
        await forEachPlace(t, everyPlace, async ({ place, askWithout, headerWith }) =>
          expectTokenRefused(t, place, await askWithout({ headers: { authorization: headerWith(value) } })),
        );
      }
      const { name } = await sampleRepository(t);
      expectCode(await getRepo(t, name, { as: undefined }), 401, 'unauthorized');
    },
  },
]);

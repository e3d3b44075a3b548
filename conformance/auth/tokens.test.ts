import { createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import { algorithmOf, type SigningKey } from '../target/keys.js';
import { signRecipe, type TokenRecipe } from './tokens.js';

function keyOn(namedCurve: string): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve });
  return { file: 'k.pem', algorithm: algorithmOf(privateKey, 'k'), privateKey };
}

const RSA: SigningKey = {
  file: 'r.pem',
  algorithm: 'RS256',
  privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};
const P256 = keyOn('prime256v1');
const NOW = 1_800_000_000;

const isValid = async (token: string, key: SigningKey) =>
  jwtVerify(token, createPublicKey(key.privateKey), { currentDate: new Date(NOW * 1000) }).then(
    () => true,
    () => false,
  );

t.test('valid tokens verify with every kind of key', async (t) => {
  for (const key of [P256, keyOn('secp384r1'), keyOn('secp521r1'), RSA]) {
    const token = signRecipe({ repo: 'a/b', scopes: ['git:read'], lifetime: 60 }, key, 'demo', NOW);
    t.ok(await isValid(token, key), key.algorithm);
    t.same(decodeJwt(token), {
      iss: 'demo',
      sub: 'conformance',
      scopes: ['git:read'],
      repo: 'a/b',
      iat: NOW,
      exp: NOW + 60,
    });
  }
});

t.test('null removes a claim or a header member', async (t) => {
  const token = signRecipe({ claims: { iat: null, sub: null }, header: { typ: null } }, P256, 'demo', NOW);
  t.same(decodeProtectedHeader(token), { alg: 'ES256' });
  t.same(Object.keys(decodeJwt(token)).sort(), ['exp', 'iss', 'scopes']);
});

t.test('every defect makes the token invalid, and changes nothing else in its claims', async (t) => {
  const defects: TokenRecipe[] = [
    { defect: 'foreign-key' },
    { defect: 'embedded-key' },
    { defect: 'tampered' },
    { defect: 'other-signature' },
    { defect: 'unsigned' },
    { defect: 'unsigned', header: { alg: 'ES256' } },
    { defect: 'hmac-public-key' },
    { defect: 'hmac-public-key', header: { alg: 'HS512' } },
    { defect: 'wrong-curve', header: { alg: 'ES384' } },
    { defect: 'mislabelled', header: { alg: 'ES384' } },
    { header: { alg: null } },
    { defect: 'algorithm', header: { alg: 'EdDSA' } },
    { defect: 'algorithm', header: { alg: 'ES256K' } },
  ];
  for (const recipe of defects) {
    const token = signRecipe({ repo: 'r', ...recipe }, P256, 'demo', NOW);
    t.notOk(await isValid(token, P256), JSON.stringify(recipe));
    t.match(decodeJwt(token), { iss: 'demo', repo: 'r', exp: NOW + 600 });
  }
});

t.test('signatures with unlisted RSA algorithms are valid: only the algorithm is wrong', async (t) => {
  for (const alg of ['PS256', 'RS384', 'RS512']) {
    const token = signRecipe({ defect: 'algorithm', header: { alg } }, RSA, 'demo', NOW);
    t.ok(await isValid(token, RSA), alg);
  }
});

t.test('the signature over a mislabelled header is real', async (t) => {
  const token = signRecipe({ defect: 'mislabelled', header: { alg: 'ES384' } }, P256, 'demo', NOW);
  const [head, body, signature = ''] = token.split('.');
  const key = { key: createPublicKey(P256.privateKey), dsaEncoding: 'ieee-p1363' as const };
  t.ok(verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url')));
});

t.test(
  'a signature for another curve, or by an embedded key, is real: only the curve or the key is wrong',
  async (t) => {
    const verified = (token: string, hash: string, key: KeyObject) => {
      const [head, body, signature = ''] = token.split('.');
      const encoded = { key, dsaEncoding: 'ieee-p1363' as const };
      return verify(hash, Buffer.from(`${head}.${body}`), encoded, Buffer.from(signature, 'base64url'));
    };
    const curve = signRecipe({ defect: 'wrong-curve', header: { alg: 'ES384' } }, P256, 'demo', NOW);
    t.ok(verified(curve, 'sha384', createPublicKey(P256.privateKey)));
    const embedded = signRecipe({ defect: 'embedded-key' }, P256, 'demo', NOW);
    const { jwk } = decodeProtectedHeader(embedded);
    t.ok(verified(embedded, 'sha256', createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })));
  },
);

t.test('a token with another signature has the header and the claims of the valid token', async (t) => {
  const [valid, other] = [{}, { defect: 'other-signature' as const }].map((recipe) =>
    signRecipe(recipe, P256, 'demo', NOW).split('.').slice(0, 2),
  );
  t.same(other, valid);
});

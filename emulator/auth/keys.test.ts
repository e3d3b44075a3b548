import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { fixtureKeys, fixtureRing } from './fixture-keys.js';
import { algorithmOf, KeyRing } from './keys.js';

t.test('the type and the curve of a key determine its algorithm', async (t) => {
  for (const row of fixtureKeys()) {
    const key = createPublicKey(readFileSync(row.publicKeyFile, 'utf8'));
    const privateKey = createPrivateKey(readFileSync(row.privateKeyFile, 'utf8'));
    t.equal(algorithmOf(key), row.algorithm, `${row.id} is what keys.json says`);
    t.equal(algorithmOf(privateKey), row.algorithm, 'so is its private key');
    t.ok(key.equals(createPublicKey(privateKey)), 'and the two belong together');
  }
  const unfit: Record<string, KeyObject> = {
    Ed25519: generateKeyPairSync('ed25519').publicKey,
    secp256k1: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey,
    'RSA 1024': generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey,
    'RSA-PSS': generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey,
  };
  /**
   * Returns an RSA public key whose modulus has `bits` bits. The modulus is not a product of primes, because no test
   * signs with the key.
   */
  const rsaOf = (bits: number) => {
    const modulus = Buffer.alloc(Math.ceil(bits / 8), 0xff);
    modulus[0] = 0xff >> (8 * modulus.length - bits);
    return createPublicKey({ key: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' }, format: 'jwk' });
  };
  t.same(
    [2047, 2048, 8192, 8193].map((bits) => algorithmOf(rsaOf(bits))),
    [undefined, 'RS256', 'RS256', undefined],
  );
  for (const [title, key] of Object.entries(unfit)) t.equal(algorithmOf(key), undefined, title);
});

t.test('key rings', async (t) => {
  const ring = fixtureRing(0);
  t.equal(ring.find('deleted'), undefined);
  t.same(
    ring.candidates('ES256').map((key) => key.kid),
    ['es256', 'restricted'],
  );
  const [es256, es384] = ['es256', 'es384'].map((kid) => ring.find(kid)!);
  const smaller = new KeyRing([es384!]);
  t.equal(smaller.find('es256'), undefined);
  t.same(smaller.candidates('ES256'), []);
  t.equal(smaller.find('es384'), es384);
  t.ok(new KeyRing([es384!, es256!]).find('es256'), 'a ring is what it was made of');
  t.equal(new KeyRing([]).find('es256'), undefined);
});

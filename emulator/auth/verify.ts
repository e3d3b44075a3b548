import { verify } from 'node:crypto';
import type { Algorithm, KeyRing, RegisteredKey } from './keys.js';
import { reject } from './rejection.js';
import type { DecodedToken } from './token.js';

/** RFC 7518, 3.1. */
const HASHES: Readonly<Record<Algorithm, string>> = {
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  RS256: 'sha256',
};

/**
 * The registered key that signed a token. Specification, Token header: a `kid` that names a registered
 * key leaves only that key; any other `kid`, or none, lets every key of the organization try. Only keys
 * of the very type and curve of `alg` are tried. Throws a `Rejection` when none fits.
 */
export async function findSigner(decoded: DecodedToken, ring: KeyRing): Promise<RegisteredKey> {
  const named = decoded.kid === undefined ? undefined : ring.find(decoded.kid);
  if (named && named.algorithm !== decoded.algorithm) {
    throw reject('algorithm', 'alg does not fit the type and curve of the key that kid names');
  }
  for (const key of named ? [named] : ring.candidates(decoded.algorithm)) {
    if (await isSignedBy(decoded, key)) return key;
  }
  const signer = named ? 'the key that kid names' : 'any registered key';
  throw reject('signature', `its signature was not made by ${signer}`);
}

/**
 * Checks the signature on a thread of the pool. RFC 7518, 3.4: one of ECDSA is R and S, each of full length, which
 * Node names after IEEE P1363; RSA knows no such choice. OpenSSL reports some malformed signatures as errors.
 */
function isSignedBy({ signed, signature }: DecodedToken, { algorithm, publicKey }: RegisteredKey): Promise<boolean> {
  return new Promise((resolve) => {
    verify(HASHES[algorithm], signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature, (error, isGood) =>
      resolve(error === null && isGood),
    );
  });
}

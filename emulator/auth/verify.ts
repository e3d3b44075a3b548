import type { KeyRing, RegisteredKey } from './keys.js';
import { reject } from './rejection.js';
import type { DecodedToken } from './token.js';

/** jose is loaded by the first token, not by the start of the process. Node keeps what was imported. */
export async function loadVerifier() {
  const [{ flattenedVerify }, { JWSSignatureVerificationFailed }] = await Promise.all([
    import('jose/jws/flattened/verify'),
    import('jose/errors'),
  ]);
  return { flattenedVerify, JWSSignatureVerificationFailed };
}

/**
 * The registered key that signed a token. Specification, Token header: a `kid` that names a registered
 * key leaves only that key; any other `kid`, or none, lets every key of the organization try. Only keys
 * of the very type and curve of `alg` are tried. Throws a `Rejection` when none fits.
 */
export async function findSigner(decoded: DecodedToken, ring: KeyRing): Promise<RegisteredKey> {
  const named = decoded.kid === undefined ? undefined : ring.find(decoded.kid);
  if (named && named.algorithm !== decoded.algorithm) {
    throw reject(
      'algorithm',
      'alg does not fit the type and curve of the key that kid names',
      undefined,
      `alg is ${decoded.algorithm}, the key ${named.kid} signs ${named.algorithm}`,
    );
  }
  const candidates = named ? [named] : ring.candidates(decoded.algorithm);
  for (const key of candidates) {
    if (await isSignedBy(decoded, key)) return key;
  }
  const signer = named ? 'the key that kid names' : 'any registered key';
  const tried = candidates.map(({ kid }) => kid).join(' ') || 'none';
  const evidence = `alg is ${decoded.algorithm}, kid ${show(decoded.kid)}, keys tried: ${tried}`;
  throw reject('signature', `its signature was not made by ${signer}`, undefined, evidence);
}

function show(kid: string | undefined): string {
  return kid === undefined ? 'missing' : JSON.stringify(kid.slice(0, 100));
}

async function isSignedBy({ parts }: DecodedToken, { algorithm, publicKey }: RegisteredKey): Promise<boolean> {
  const { flattenedVerify, JWSSignatureVerificationFailed } = await loadVerifier();
  try {
    await flattenedVerify(parts, publicKey, { algorithms: [algorithm] });
    return true;
  } catch (error) {
    if (error instanceof JWSSignatureVerificationFailed) return false;
    throw error;
  }
}

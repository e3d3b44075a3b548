import type { KeyRing, RegisteredKey } from './keys.js';
import { reject } from './rejection.js';
import type { DecodedToken } from './token.js';

/** jose is not loaded before the process has started. Node keeps what was imported. */
async function loadVerifier() {
  const [{ flattenedVerify }, { JWSSignatureVerificationFailed }] = await Promise.all([
    import('jose/jws/flattened/verify'),
    import('jose/errors'),
  ]);
  return { flattenedVerify, JWSSignatureVerificationFailed };
}

/** A header, claims and a signature of 64 bytes that no key made. */
const UNSIGNED = { protected: 'eyJhbGciOiJFUzI1NiJ9', payload: 'e30', signature: 'A'.repeat(86) };

/**
 * Does what the first token of a process would wait for: loads jose, reads the oldest key, and sets up what checks
 * signatures. A key that cannot be read is told to who sends a token.
 */
export async function prepareVerifier(ring: KeyRing): Promise<void> {
  const [key] = ring.candidates('ES256');
  if (key) await isSignedBy(UNSIGNED, key).catch(() => {});
  else await loadVerifier();
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
    if (await isSignedBy(decoded.parts, key)) return key;
  }
  const signer = named ? 'the key that kid names' : 'any registered key';
  const tried = candidates.map(({ kid }) => kid).join(' ') || 'none';
  const evidence = `alg is ${decoded.algorithm}, kid ${show(decoded.kid)}, keys tried: ${tried}`;
  throw reject('signature', `its signature was not made by ${signer}`, undefined, evidence);
}

function show(kid: string | undefined): string {
  return kid === undefined ? 'missing' : JSON.stringify(kid.slice(0, 100));
}

async function isSignedBy(parts: DecodedToken['parts'], { algorithm, publicKey }: RegisteredKey): Promise<boolean> {
  const { flattenedVerify, JWSSignatureVerificationFailed } = await loadVerifier();
  try {
    await flattenedVerify(parts, publicKey, { algorithms: [algorithm] });
    return true;
  } catch (error) {
    if (error instanceof JWSSignatureVerificationFailed) return false;
    throw error;
  }
}

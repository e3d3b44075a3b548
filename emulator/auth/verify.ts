import type { KeyRing, RegisteredKey } from './keys.js';
import { reject } from './rejection.js';
import type { DecodedToken } from './token.js';

/**
 * Loads the library jose at the first call, because loading it at the start would slow down every start. Node caches
 * the modules, so later calls are fast.
 */
async function loadVerifier() {
  const [{ flattenedVerify }, { JWSSignatureVerificationFailed }] = await Promise.all([
    import('jose/jws/flattened/verify'),
    import('jose/errors'),
  ]);
  return { flattenedVerify, JWSSignatureVerificationFailed };
}

/** Token whose verification always fails. It has a valid header, empty claims, and an invalid signature of 64 bytes. */
const UNSIGNED = { protected: 'eyJhbGciOiJFUzI1NiJ9', payload: 'e30', signature: 'A'.repeat(86) };

/**
 * Prepares the signature check, so that the first request of a process is not slower than later requests. Loads jose,
 * reads the oldest ES256 key, and verifies one signature. Ignores a key that cannot be read, because requests with its
 * tokens fail later with a clear error.
 */
export async function prepareVerifier(ring: KeyRing): Promise<void> {
  const [key] = ring.candidates('ES256');
  if (key) await isSignedBy(UNSIGNED, key).catch(() => {});
  else await loadVerifier();
}

/**
 * Returns the registered key that signed a token (specification, Token header). If the header `kid` names a registered
 * key, only that key is tried, otherwise all keys of the organization. A key must also fit the header `alg` in type and
 * curve. Throws a `Rejection` if no key verifies the signature.
 */
export async function findSigner(decoded: DecodedToken, ring: KeyRing): Promise<RegisteredKey> {
  const named = decoded.kid === undefined ? undefined : ring.find(decoded.kid);
  if (named && named.algorithm !== decoded.algorithm) {
    throw reject(
      'algorithm',
      'its header member alg does not match the type and curve of the key that kid names',
      undefined,
      `alg is ${decoded.algorithm}, but the key ${named.kid} is for ${named.algorithm}`,
    );
  }
  const candidates = named ? [named] : ring.candidates(decoded.algorithm);
  for (const key of candidates) {
    if (await isSignedBy(decoded.parts, key)) return key;
  }
  const signer = named ? 'the key that kid names' : 'any key registered with the organization';
  const tried = candidates.map(({ kid }) => kid).join(' ') || 'none';
  const evidence = `alg is ${decoded.algorithm}, kid is ${show(decoded.kid)}; keys tried: ${tried}`;
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

import type { KeyRing, RegisteredKey } from './keys.js';
import { reject } from './rejection.js';
import type { DecodedToken } from './token.js';

/** Loads jose on first use, not at process start. Node caches the modules. */
async function loadVerifier() {
  const [{ flattenedVerify }, { JWSSignatureVerificationFailed }] = await Promise.all([
    import('jose/jws/flattened/verify'),
    import('jose/errors'),
  ]);
  return { flattenedVerify, JWSSignatureVerificationFailed };
}

/** Header, claims, and an invalid signature of 64 bytes. */
const UNSIGNED = { protected: 'eyJhbGciOiJFUzI1NiJ9', payload: 'e30', signature: 'A'.repeat(86) };

/**
 * Prepares the first signature check of a process: loads jose, reads the oldest key, and initializes the verifier.
 * Ignores a key that cannot be read; requests with its tokens fail later.
 */
export async function prepareVerifier(ring: KeyRing): Promise<void> {
  const [key] = ring.candidates('ES256');
  if (key) await isSignedBy(UNSIGNED, key).catch(() => {});
  else await loadVerifier();
}

/**
 * Returns the registered key that signed a token (specification, Token header). If `kid` names a registered key, only
 * that key is tried; otherwise all keys of the organization are. Only keys with the type and curve of `alg` are tried.
 * Throws a `Rejection` if no key verifies it.
 */
export async function findSigner(decoded: DecodedToken, ring: KeyRing): Promise<RegisteredKey> {
  const named = decoded.kid === undefined ? undefined : ring.find(decoded.kid);
  if (named && named.algorithm !== decoded.algorithm) {
    throw reject(
      'algorithm',
      'alg does not match the type and curve of the key with this kid',
      undefined,
      `alg is ${decoded.algorithm}, but the key ${named.kid} is for ${named.algorithm}`,
    );
  }
  const candidates = named ? [named] : ring.candidates(decoded.algorithm);
  for (const key of candidates) {
    if (await isSignedBy(decoded.parts, key)) return key;
  }
  const signer = named ? 'the key with this kid' : 'any registered key';
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

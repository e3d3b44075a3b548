import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type Algorithm, type AllowedScopes, algorithmOf, RegisteredKey } from './keys.js';

/** Makes the error for a key that cannot be registered. `why`: the end of a sentence. */
type Refuse = (why: string) => Error;

/** What a key is made of (RFC 7518, 6.2.1 and 6.3.1): of a private one the rest is left behind. */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const;

/** The public key in a PEM text (SPKI, or the private key that it belongs to), or in a JWK (RFC 7517). */
function readPublicKey(given: string | Readonly<Record<string, unknown>>, refuse: Refuse): KeyObject {
  let key: KeyObject;
  try {
    key =
      typeof given === 'string' ? createPublicKey(given) : createPublicKey({ key: publicPart(given), format: 'jwk' });
  } catch {
    throw refuse('cannot be read: it has to be PEM ("BEGIN PUBLIC KEY") or a JWK.');
  }
  if (algorithmOf(key)) return key;
  throw refuse('signs no tokens: it has to be EC P-256, P-384 or P-521, or RSA of 2048 to 8192 bits.');
}

function publicPart(jwk: Readonly<Record<string, unknown>>): JsonWebKey {
  return Object.fromEntries(PUBLIC_MEMBERS.flatMap((name) => (name in jwk ? [[name, jwk[name]]] : []))) as JsonWebKey;
}

/** RFC 7638: the SHA-256 of the members that make the key, in the order of their names. */
export function thumbprintOf(key: KeyObject): string {
  const jwk: Readonly<Record<string, unknown>> = { ...key.export({ format: 'jwk' }) };
  const members = PUBLIC_MEMBERS.filter((name) => jwk[name] !== undefined).sort();
  const text = JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]])));
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Reads a public key, of PEM text or a JWK, as an organization registers it. Without an id it has its thumbprint. Throws
 * what `refuse` makes.
 */
export function registeredKey(
  given: string | Readonly<Record<string, unknown>>,
  { id, allowedScopes = ['*'] }: { id?: string | undefined; allowedScopes?: AllowedScopes | undefined },
  refuse: Refuse,
): RegisteredKey {
  const key = readPublicKey(given, refuse);
  return new RegisteredKey(id ?? thumbprintOf(key), algorithmOf(key) as Algorithm, allowedScopes, () => key);
}

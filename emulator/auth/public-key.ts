import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type Algorithm, type AllowedScopes, algorithmOf, RegisteredKey } from './keys.js';

/** Creates the error for a key that cannot be registered. `why` is the reason; it ends the error's sentence. */
type Refuse = (why: string) => Error;

/**
 * Members of a JWK that form its public key (RFC 7518, 6.2.1 and 6.3.1). All other members are dropped, so that no
 * private key is stored if a client registers a private JWK.
 */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const;

/**
 * Reads a public key from PEM text or a JWK (RFC 7517). The PEM text contains SPKI, or a private key, from which the
 * public key is computed.
 */
function readPublicKey(given: string | Readonly<Record<string, unknown>>, refuse: Refuse): KeyObject {
  let key: KeyObject;
  try {
    key =
      typeof given === 'string' ? createPublicKey(given) : createPublicKey({ key: publicPart(given), format: 'jwk' });
  } catch {
    throw refuse('cannot be read: it must be PEM ("BEGIN PUBLIC KEY") or a JWK.');
  }
  if (algorithmOf(key)) return key;
  throw refuse('cannot sign tokens: it must be EC P-256, P-384 or P-521, or RSA of 2048 to 8192 bits.');
}

function publicPart(jwk: Readonly<Record<string, unknown>>): JsonWebKey {
  return Object.fromEntries(PUBLIC_MEMBERS.flatMap((name) => (name in jwk ? [[name, jwk[name]]] : []))) as JsonWebKey;
}

/**
 * Returns the thumbprint of a public key (RFC 7638), in base64url. It is the SHA-256 of the JWK's required members,
 * sorted by name.
 */
export function thumbprintOf(key: KeyObject): string {
  const jwk: Readonly<Record<string, unknown>> = { ...key.export({ format: 'jwk' }) };
  const members = PUBLIC_MEMBERS.filter((name) => jwk[name] !== undefined).sort();
  const text = JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]])));
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Reads a public key from PEM or a JWK, ready to be registered. Without an id, the key's thumbprint becomes its id.
 * Throws the error from `refuse` if the key cannot be read or cannot sign tokens.
 */
export function registeredKey(
  given: string | Readonly<Record<string, unknown>>,
  { id, allowedScopes = ['*'] }: { id?: string | undefined; allowedScopes?: AllowedScopes | undefined },
  refuse: Refuse,
): RegisteredKey {
  const key = readPublicKey(given, refuse);
  return new RegisteredKey(id ?? thumbprintOf(key), algorithmOf(key) as Algorithm, allowedScopes, () => key);
}

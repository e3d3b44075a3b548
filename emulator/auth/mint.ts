import { createPrivateKey, type KeyObject } from 'node:crypto';
import { algorithmOf } from './keys.js';

/** Default lifetime of a token in seconds: one year, as in the token helper of the client libraries. */
export const DEFAULT_LIFETIME = 31_536_000;

export const DEFAULT_SCOPES: readonly string[] = ['git:write', 'git:read'];

export interface TokenRequest {
  /** Private key with which the token is signed, as PKCS#8 PEM. */
  readonly privateKeyPem: string;
  /** Name of the organization, for the claim `iss`. */
  readonly org: string;
  /** Name of the repository, for the claim `repo`; absent for tokens of the whole organization. */
  readonly repo?: string | undefined;
  /**
   * Claim `scopes`. Default: `git:write`, `git:read`. Scopes are not validated, because tests need tokens with invalid
   * scopes.
   */
  readonly scopes?: readonly string[] | undefined;
  /** Name of the user, for the claim `sub`. Default: `emulator`. */
  readonly sub?: string | undefined;
  /** Lifetime of the token in seconds, from `iat` to `exp`. Default: one year. */
  readonly ttl?: number | undefined;
  /** Issue time of the token (claim `iat`) in milliseconds. Default: the current time of the machine's clock. */
  readonly now?: number | undefined;
  /** Id of the key, for the header `kid`. If undefined, the token has no header `kid`. */
  readonly kid?: string | undefined;
  /** Additional claims, such as `refs`. They override the claims above. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** Signs a token locally, without a request to the service. Throws an `Error` if the key cannot sign tokens. */
export async function mintToken(request: TokenRequest): Promise<string> {
  const {
    org,
    repo,
    scopes = DEFAULT_SCOPES,
    sub = 'emulator',
    ttl = DEFAULT_LIFETIME,
    now = Date.now(),
    kid,
  } = request;
  const { key, algorithm } = readPrivateKey(request.privateKeyPem);
  const iat = Math.floor(now / 1000);
  const { SignJWT } = await import('jose/jwt/sign');
  return new SignJWT({
    iss: org,
    sub,
    repo,
    scopes: [...scopes],
    iat,
    exp: iat + ttl,
    ...request.claims,
  })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(kid === undefined ? {} : { kid }) })
    .sign(key);
}

function readPrivateKey(pem: string): { key: KeyObject; algorithm: string } {
  if (!pem.includes('-----BEGIN PRIVATE KEY-----')) {
    throw new Error(
      'The private key must be PKCS#8 in PEM ("BEGIN PRIVATE KEY"). Convert it with openssl pkcs8 -topk8 -nocrypt.',
    );
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new Error('The private key cannot be read: its PEM text is damaged, or its type is unknown.');
  }
  const algorithm = algorithmOf(key);
  if (!algorithm)
    throw new Error(
      'The private key cannot sign tokens: it must be EC P-256, P-384 or P-521, or RSA of 2048 to 8192 bits.',
    );
  return { key, algorithm };
}

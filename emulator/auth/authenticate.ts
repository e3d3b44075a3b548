import { checkUse, parseClaims, type TokenVariants } from './claims.js';
import { isAccepted, parseCredential, type Surface } from './credentials.js';
import type { KeyRing } from './keys.js';
import { reject } from './rejection.js';
import { decodeToken } from './token.js';
import { type ProvenToken, type SignedToken, TokenCache } from './token-cache.js';
import { findSigner } from './verify.js';

/** Credential of a request, and the context in which it is checked. */
export interface AuthenticationRequest {
  /** Value of the `Authorization` header, from `authorizationOf`. */
  readonly authorization: string | undefined;
  readonly surface: Surface;
  /** Organization of the requested host. */
  readonly tenant: string;
  /** Milliseconds on the world's clock. */
  readonly now: number;
  /** True if hosting is enabled for the organization. */
  readonly hosting: boolean;
  readonly variants: TokenVariants;
  /** Returns the keys of an organization; undefined if it does not exist. */
  readonly ringOf: (organization: string) => KeyRing | undefined;
}

/** Accepted token: its verified claims, and the key that signed it. */
export type Verified = Omit<ProvenToken, 'scheme' | 'ring'>;

/**
 * Verifies `Authorization` headers and returns their claims. It caches verified tokens; all other input comes with the
 * request.
 */
export class Authenticator {
  /** Verified tokens by the whole header value. */
  readonly #proven = new TokenCache<ProvenToken>();
  /** Verified tokens by the token alone, because tests send the same one as Bearer to the API and as Basic to Git. */
  readonly #signed = new TokenCache<SignedToken>();

  /**
   * Returns the token of `request` without waiting if its signature was verified before; undefined if `prove` must be
   * called. Only the signature is cached: keys, clock, scopes and organization are checked every time. Throws a
   * `Rejection`.
   */
  recall(request: AuthenticationRequest): Verified | undefined {
    const proven = this.#proven.get(request.authorization ?? '');
    if (!proven || !isAccepted(proven.scheme, request.surface)) return undefined;
    if (request.ringOf(proven.claims.iss) !== proven.ring) return undefined;
    return use(proven, request);
  }

  /** Verifies the signature of the token of `request`. Throws a `Rejection` with the first check that failed. */
  async prove(request: AuthenticationRequest): Promise<Verified> {
    const { scheme, token } = parseCredential(request.authorization, request.surface);
    const signed = this.#recallSigned(token, request) ?? (await proveSigned(token, request));
    this.#signed.set(token, signed);
    // The same token as Bearer and as Basic gets two claims objects, because the journal finds the form by the object.
    const proven = { scheme, claims: parseClaims(signed.payload), ...signed };
    this.#proven.set(request.authorization!, proven);
    return use(proven, request);
  }

  #recallSigned(token: string, request: AuthenticationRequest): SignedToken | undefined {
    const signed = this.#signed.get(token);
    return signed && request.ringOf(signed.payload.iss as string) === signed.ring ? signed : undefined;
  }
}

async function proveSigned(token: string, request: AuthenticationRequest): Promise<SignedToken> {
  const decoded = decodeToken(token);
  const ring = ringFor(decoded.payload.iss, request);
  const key = await findSigner(decoded, ring);
  const { kid, type, payload } = decoded;
  return { key, kid, type, payload, ring };
}

function ringFor(issuer: unknown, request: AuthenticationRequest): KeyRing {
  const ring = typeof issuer === 'string' ? request.ringOf(issuer) : undefined;
  if (!ring) {
    const evidence = `iss is ${typeof issuer === 'string' ? JSON.stringify(issuer.slice(0, 100)) : typeof issuer}`;
    throw reject('issuer', 'iss is missing or is not the name of an organization', undefined, evidence);
  }
  return ring;
}

function use(proven: ProvenToken, request: AuthenticationRequest): Verified {
  const { claims, key, type } = proven;
  const { now, hosting, tenant, variants } = request;
  checkUse(claims, { key, type, now, hosting, tenant, variants });
  return proven;
}

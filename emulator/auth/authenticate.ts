import { checkUse, parseClaims, type TokenVariants } from './claims.js';
import { isAccepted, parseCredential, type Surface } from './credentials.js';
import type { KeyRing } from './keys.js';
import { reject } from './rejection.js';
import { decodeToken } from './token.js';
import { type ProvenToken, TokenCache } from './token-cache.js';
import { findSigner } from './verify.js';

/** One request, as far as its credential is concerned. */
export interface AuthenticationRequest {
  /** The value of the `Authorization` header (`authorizationOf` the raw headers). */
  readonly authorization: string | undefined;
  readonly surface: Surface;
  /** The organization of the host that was asked. */
  readonly tenant: string;
  /** Milliseconds on the world's clock. */
  readonly now: number;
  /** Whether the tenant has hosting enabled. */
  readonly hosting: boolean;
  readonly variants: TokenVariants;
  /** The keys of an organization, or undefined when there is no such organization. */
  readonly ringOf: (organization: string) => KeyRing | undefined;
}

/** An accepted token: claims that were proven and hold at this moment, and the key that proved them. */
export type Verified = Omit<ProvenToken, 'scheme' | 'ring'>;

/** Turns `Authorization` headers into claims. Holds the tokens it has proven; everything else comes with the request. */
export class Authenticator {
  readonly #proven = new TokenCache();

  /**
   * Who sent `request`, without waiting, if its token was proven before; undefined when `prove` has to be called.
   * Only the signature is remembered: keys, clock, scopes and tenant are checked anew. Throws a `Rejection`.
   */
  recall(request: AuthenticationRequest): Verified | undefined {
    const proven = this.#proven.get(request.authorization ?? '');
    if (!proven || !isAccepted(proven.scheme, request.surface)) return undefined;
    if (request.ringOf(proven.claims.iss) !== proven.ring) return undefined;
    return use(proven, request);
  }

  /** Who sent `request`, by the signature of its token. Throws a `Rejection` that names the first check it failed. */
  async prove(request: AuthenticationRequest): Promise<Verified> {
    const { scheme, token } = parseCredential(request.authorization, request.surface);
    const decoded = decodeToken(token);
    const ring = ringFor(decoded.payload.iss, request);
    const key = await findSigner(decoded, ring);
    const { kid, type, payload } = decoded;
    const proven = { scheme, claims: parseClaims(payload), key, kid, type, payload, ring };
    this.#proven.set(request.authorization!, proven);
    return use(proven, request);
  }
}

function ringFor(issuer: unknown, request: AuthenticationRequest): KeyRing {
  const ring = typeof issuer === 'string' ? request.ringOf(issuer) : undefined;
  if (!ring) {
    const evidence = `iss is ${typeof issuer === 'string' ? JSON.stringify(issuer.slice(0, 100)) : typeof issuer}`;
    throw reject('issuer', 'iss is missing or names no organization', undefined, evidence);
  }
  return ring;
}

function use(proven: ProvenToken, request: AuthenticationRequest): Verified {
  const { claims, key, type } = proven;
  const { now, hosting, tenant, variants } = request;
  checkUse(claims, { key, type, now, hosting, tenant, variants });
  return proven;
}

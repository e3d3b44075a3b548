import { checkUse, parseClaims, type TokenVariants } from './claims.js';
import { isAccepted, parseCredential, type Surface } from './credentials.js';
import type { KeyRing } from './keys.js';
import { reject } from './rejection.js';
import { decodeToken } from './token.js';
import { type ProvenToken, type SignedToken, TokenCache } from './token-cache.js';
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
  /** By the whole `Authorization` value. */
  readonly #proven = new TokenCache<ProvenToken>();
  /** By the token alone: a test sends the same one as Bearer to the API and as Basic to Git. */
  readonly #signed = new TokenCache<SignedToken>();

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
    const signed = this.#recallSigned(token, request) ?? (await proveSigned(token, request));
    this.#signed.set(token, signed);
    // Claims of its own for each header: the journal tells by them how the token came.
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

import { checkUse, parseClaims, type TokenVariants } from './claims.js';
import { isAccepted, parseCredential, type Surface } from './credentials.js';
import type { KeyRing } from './keys.js';
import { reject } from './rejection.js';
import { decodeToken } from './token.js';
import { type ProvenToken, type SignedToken, TokenCache } from './token-cache.js';
import { findSigner } from './verify.js';

/** Credential of a request, with the facts that decide if the credential is accepted. */
export interface AuthenticationRequest {
  /** Value of the `Authorization` header, as returned by `authorizationOf`; undefined if absent. */
  readonly authorization: string | undefined;
  readonly surface: Surface;
  /** Name of the organization to which the request's host belongs. */
  readonly tenant: string;
  /** Current time in milliseconds on the emulator's clock, which a test can set. */
  readonly now: number;
  /** True if the organization has the hosting feature. Otherwise the `deployment:*` scopes count as unknown scopes. */
  readonly hosting: boolean;
  readonly variants: TokenVariants;
  /** Returns the registered keys of an organization; undefined if the organization does not exist. */
  readonly ringOf: (organization: string) => KeyRing | undefined;
}

/** Accepted token: its verified claims, and the key with which it was signed. */
export type Verified = Omit<ProvenToken, 'scheme' | 'ring'>;

/**
 * Verifies `Authorization` headers and returns the claims of their tokens. Its only state is a cache of verified
 * tokens. Keys, clock and settings come with each request.
 */
export class Authenticator {
  /** Cache of verified credentials. The key is the whole `Authorization` header. */
  readonly #proven = new TokenCache<ProvenToken>();
  /**
   * Cache of verified signatures. The key is the token without its scheme, because tests send the same token as Bearer
   * to the API and as Basic to Git. Its signature is then verified only once.
   */
  readonly #signed = new TokenCache<SignedToken>();

  /**
   * Returns the verified token of `request` without waiting. Returns undefined if its signature was not verified
   * before; then call `prove`. Only the result of the signature check is cached. Keys, times, scopes and organization
   * are checked each time; throws a `Rejection` if one of these checks fails.
   */
  recall(request: AuthenticationRequest): Verified | undefined {
    const proven = this.#proven.get(request.authorization ?? '');
    if (!proven || !isAccepted(proven.scheme, request.surface)) return undefined;
    if (request.ringOf(proven.claims.iss) !== proven.ring) return undefined;
    return use(proven, request);
  }

  /** Verifies the token's signature, then its claims. Throws a `Rejection` that names the first failed check. */
  async prove(request: AuthenticationRequest): Promise<Verified> {
    const { scheme, token } = parseCredential(request.authorization, request.surface);
    const signed = this.#recallSigned(token, request) ?? (await proveSigned(token, request));
    this.#signed.set(token, signed);
    // A token gets one claims object for Bearer and another for Basic, because the journal (list of all requests) looks
    // up the form of the token by its claims object.
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
    throw reject('issuer', 'its claim iss is missing or is not the name of an organization', undefined, evidence);
  }
  return ring;
}

function use(proven: ProvenToken, request: AuthenticationRequest): Verified {
  const { claims, key, type } = proven;
  const { now, hosting, tenant, variants } = request;
  checkUse(claims, { key, type, now, hosting, tenant, variants });
  return proven;
}

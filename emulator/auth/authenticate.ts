import { checkUse, parseClaims, type TokenVariants } from './claims.js';
import { isAccepted, parseCredential, type Surface } from './credentials.js';
import type { KeyRing } from './keys.js';
import { reject } from './rejection.js';
import { decodeToken } from './token.js';
import { type ProvenToken, type SignedToken, TokenCache } from './token-cache.js';
import { findSigner } from './verify.js';

/** Credential of a request, and the facts that decide if the service accepts it. */
export interface AuthenticationRequest {
  /** Value of the `Authorization` header as `authorizationOf` returns it; undefined if absent. */
  readonly authorization: string | undefined;
  readonly surface: Surface;
  /** Name of the organization that the host of the request belongs to. */
  readonly tenant: string;
  /** Current time in milliseconds on the emulator's clock, which a test can set. */
  readonly now: number;
  /** True if the organization has the hosting feature, without which the `deployment:*` scopes are unknown. */
  readonly hosting: boolean;
  readonly variants: TokenVariants;
  /** Returns the registered keys of an organization; undefined if the organization does not exist. */
  readonly ringOf: (organization: string) => KeyRing | undefined;
}

/** Accepted token: its verified claims, and the key with which it was signed. */
export type Verified = Omit<ProvenToken, 'scheme' | 'ring'>;

/**
 * Verifies `Authorization` headers and returns the claims of their tokens. The only state is a cache of verified
 * tokens. Keys, clock and variants (configurable behaviours) come with each request.
 */
export class Authenticator {
  /** Cache of verified tokens. The key is the whole value of the `Authorization` header. */
  readonly #proven = new TokenCache<ProvenToken>();
  /**
   * Cache of verified tokens. The key is the token alone, because tests send one token as Bearer to the API and as
   * Basic to Git, and its signature must be verified only once.
   */
  readonly #signed = new TokenCache<SignedToken>();

  /**
   * Returns the token of `request` synchronously if its signature was verified before; undefined if `prove` must be
   * called. Only the result of the signature check is cached. Keys, times, scopes and organization are checked each
   * time. Throws a `Rejection` if one of these checks fails.
   */
  recall(request: AuthenticationRequest): Verified | undefined {
    const proven = this.#proven.get(request.authorization ?? '');
    if (!proven || !isAccepted(proven.scheme, request.surface)) return undefined;
    if (request.ringOf(proven.claims.iss) !== proven.ring) return undefined;
    return use(proven, request);
  }

  /**
   * Verifies the signature of the token of `request` and then its claims. Throws a `Rejection` that names the first
   * check that failed.
   */
  async prove(request: AuthenticationRequest): Promise<Verified> {
    const { scheme, token } = parseCredential(request.authorization, request.surface);
    const signed = this.#recallSigned(token, request) ?? (await proveSigned(token, request));
    this.#signed.set(token, signed);
    // A token that is sent as Bearer and as Basic gets two claims objects, because the journal (list of all requests)
    // uses the object as the key under which it finds the form in which the token was sent.
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

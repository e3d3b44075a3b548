import { createHmac } from 'node:crypto';
import type { Claims } from '../auth/claims.js';
import { parseCredential, type Scheme } from '../auth/credentials.js';

/** Facts about the token of a request: enough to distinguish tokens, but not to use them. */
export interface SentToken {
  readonly scheme: Scheme;
  /**
   * HMAC of the header and payload of the token, by which equal tokens can be recognized. Equal claims have equal
   * digests in every run with the same seed.
   */
  readonly digest: string;
  /** True if the signature was verified. Otherwise the members below are unverified claims. */
  readonly verified: boolean;
  readonly subject?: string;
  readonly repository?: string;
  /** Time in the `iat` claim (ISO 8601). `expires` is the time in the `exp` claim. */
  readonly issued?: string;
  readonly expires?: string;
  readonly jti?: string;
}

/**
 * Creates descriptions of tokens without their signatures. The description of an accepted token is cached. @internal
 */
export class SentTokens {
  private readonly accepted = new WeakMap<Claims, SentToken>();

  constructor(private readonly key: Buffer) {}

  /**
   * Returns the cached description of the token with these claims; undefined if absent. All uses of a token share one
   * claims object.
   */
  known(claims: Claims): SentToken | undefined {
    return this.accepted.get(claims);
  }

  /** Describes an accepted token, and caches the description by its claims. */
  ofClaims(claims: Claims, authorization: string): SentToken | undefined {
    const described = this.of(authorization);
    if (!described) return undefined;
    const token = { ...described, verified: true };
    this.accepted.set(claims, token);
    return token;
  }

  /** Describes an unverified token; undefined if the header field contains no token. */
  of(authorization: string): SentToken | undefined {
    let sent: ReturnType<typeof parseCredential>;
    try {
      sent = parseCredential(authorization, 'git');
    } catch {
      return undefined;
    }
    const signed = sent.token.split('.').slice(0, 2).join('.');
    const digest = createHmac('sha256', this.key).update(signed).digest('base64url').slice(0, 16);
    const { sub, repo, iat, exp, jti } = payloadOf(sent.token);
    const [issued, expires] = [timeOf(iat), timeOf(exp)];
    return {
      scheme: sent.scheme,
      digest,
      verified: false,
      ...(typeof sub === 'string' && { subject: sub }),
      ...(typeof repo === 'string' && { repository: repo }),
      ...(issued !== undefined && { issued }),
      ...(expires !== undefined && { expires }),
      ...(typeof jti === 'string' && { jti }),
    };
  }
}

function payloadOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Converts seconds since 1970 to ISO 8601; undefined if the value is not a valid time. */
function timeOf(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number') return undefined;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

import { createHmac } from 'node:crypto';
import type { Claims } from '../auth/claims.js';
import { parseCredential, type Scheme } from '../auth/credentials.js';

/**
 * Description of the token of a request for the journal (list of past requests). It is sufficient to distinguish
 * tokens, but the token cannot be reconstructed from it, because the signature is missing.
 */
export interface SentToken {
  readonly scheme: Scheme;
  /**
   * HMAC of the header and payload of the token, by which requests with the same token are recognized. The same claims
   * have the same digest in every run of the emulator with the same seed.
   */
  readonly digest: string;
  /**
   * True if the emulator has verified the signature of the token. Otherwise, the members below are claims that anyone
   * may have invented.
   */
  readonly verified: boolean;
  readonly subject?: string;
  readonly repository?: string;
  /**
   * Times in the claims `iat` (issued at) and `exp` (expires at), in ISO 8601; absent if the token lacks the claim or
   * if it is not a valid time.
   */
  readonly issued?: string;
  readonly expires?: string;
  readonly jti?: string;
}

/**
 * Creates descriptions of tokens for the journal (list of past requests). The description of an accepted token is
 * cached, because clients send the same token with many requests. @internal
 */
export class SentTokens {
  private readonly accepted = new WeakMap<Claims, SentToken>();

  constructor(private readonly key: Buffer) {}

  /**
   * Returns the cached description of the token with these claims; undefined if it is not cached. The key is the claims
   * object and not its content, because all uses of a token share one claims object.
   */
  known(claims: Claims): SentToken | undefined {
    return this.accepted.get(claims);
  }

  /**
   * Describes a token that the emulator has accepted, and caches the description under its claims object.
   * `authorization`: the value of the `Authorization` header. Returns undefined if the header contains no token.
   */
  ofClaims(claims: Claims, authorization: string): SentToken | undefined {
    const described = this.of(authorization);
    if (!described) return undefined;
    const token = { ...described, verified: true };
    this.accepted.set(claims, token);
    return token;
  }

  /**
   * Describes a token whose signature is not verified. `authorization`: the value of the `Authorization` header.
   * Returns undefined if the header contains no token.
   */
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

/**
 * Converts a time in seconds since 1970 (as in the claims `iat` and `exp`) to ISO 8601; undefined if the value is not a
 * valid time.
 */
function timeOf(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number') return undefined;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

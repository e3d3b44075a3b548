import { createHmac } from 'node:crypto';
import type { Claims } from '../auth/claims.js';
import { parseCredential, type Scheme } from '../auth/credentials.js';

/** What the journal knows of the token of a request: enough to tell tokens apart, and nothing to use them with. */
export interface SentToken {
  readonly scheme: Scheme;
  /** Of its header and its payload, with a key of the world's: the same for the same claims, in every run. */
  readonly digest: string;
  /** Whether its signature was proven. What follows is only said by the token where it was not. */
  readonly verified: boolean;
  readonly subject?: string;
  readonly repository?: string;
  /** ISO 8601. */
  readonly issued?: string;
  readonly expires?: string;
  readonly jti?: string;
}

/** Describes tokens; those that were accepted once only. @internal */
export class SentTokens {
  private readonly accepted = new WeakMap<Claims, SentToken>();

  constructor(private readonly key: Buffer) {}

  /** The token that led to `claims`, if it was described before: claims are one object for all uses of a token. */
  known(claims: Claims): SentToken | undefined {
    return this.accepted.get(claims);
  }

  /** A token that led to `claims`. */
  ofClaims(claims: Claims, authorization: string): SentToken | undefined {
    const described = this.of(authorization);
    if (!described) return undefined;
    const token = { ...described, verified: true };
    this.accepted.set(claims, token);
    return token;
  }

  /** A token that nothing is known of but what it says itself; undefined where there is none. */
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

/** Seconds since 1970 as ISO 8601; undefined for what is no time. */
function timeOf(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number') return undefined;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

import { createHmac } from 'node:crypto';
import type { Claims } from '../auth/claims.js';
import { parseCredential, type Scheme } from '../auth/credentials.js';
import { isSecretField, REDACTED, redactText } from './redaction.js';

/**
 * Description of a request's token for the journal (list of past requests). It contains all claims, but the token
 * cannot be reconstructed from it, because the signature is missing.
 */
export interface SentToken {
  readonly scheme: Scheme;
  /**
   * HMAC of the token's header and payload. Requests with the same token have the same digest. The digest of the same
   * claims is equal in every run of the emulator with the same seed.
   */
  readonly digest: string;
  /**
   * True if the emulator has verified the token's signature. Otherwise, anyone may have invented the claims in the
   * other members.
   */
  readonly verified: boolean;
  readonly subject?: string;
  readonly repository?: string;
  /**
   * Times in the claims `iat` (issued at) and `exp` (expires at), as ISO 8601. Absent if the claim is missing or not a
   * valid time.
   */
  readonly issued?: string;
  readonly expires?: string;
  readonly jti?: string;
  /**
   * Members of the token's JOSE header, such as `alg` and `kid` (RFC 7515, section 4). Absent if the header is not a
   * JSON object.
   */
  readonly header?: TokenMembers;
  /** All claims of the token, such as `scopes`. Absent if the payload is not a JSON object. */
  readonly claims?: TokenMembers;
}

/**
 * Members of a part of a token. Secrets in them are replaced by `[redacted]`. The object and all nested objects are
 * frozen, because the entries of all requests with the token share them.
 */
export type TokenMembers = Readonly<Record<string, unknown>>;

/**
 * Creates the descriptions of tokens for the journal (list of past requests). Descriptions of accepted tokens are
 * cached, because clients send the same token with many requests. @internal
 */
export class SentTokens {
  private readonly accepted = new WeakMap<Claims, SentToken>();

  constructor(private readonly key: Buffer) {}

  /**
   * Returns the cached description of a token; undefined if not cached. The cache uses the identity of the claims
   * object, which all uses of a token share.
   */
  known(claims: Claims): SentToken | undefined {
    return this.accepted.get(claims);
  }

  /**
   * Describes a token that the emulator has accepted, and caches the description for its claims object. `authorization`
   * is the value of the `Authorization` header. Returns undefined if the header contains no token.
   */
  ofClaims(claims: Claims, authorization: string): SentToken | undefined {
    const described = this.of(authorization);
    if (!described) return undefined;
    const token = { ...described, verified: true };
    this.accepted.set(claims, token);
    return token;
  }

  /**
   * Describes a token whose signature is not verified. `authorization` is the value of the `Authorization` header.
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
    const [header, claims] = sent.token.split('.', 2).map(membersOf);
    const { sub, repo, iat, exp, jti } = claims ?? {};
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
      ...(header && { header }),
      ...(claims && { claims }),
    };
  }
}

/**
 * Decodes a part of a token (JSON in base64url), and redacts and freezes its members. Returns undefined if the part is
 * not a JSON object.
 */
function membersOf(part: string): TokenMembers | undefined {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    // Redacts the JSON text instead of each string, because names can contain secrets too. JSON from `stringify` has no
    // escaped letters, which could hide a secret.
    const shown: unknown = JSON.parse(redactText(JSON.stringify(decoded)), (name, value) =>
      Object.freeze(isSecretField(name.replaceAll('_', '-')) ? REDACTED : value),
    );
    return typeof shown === 'object' && shown !== null && !Array.isArray(shown) ? (shown as TokenMembers) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Converts a time in seconds since 1970, as in `iat` and `exp`, to ISO 8601. Returns undefined if the value is not a
 * valid time.
 */
function timeOf(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number') return undefined;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

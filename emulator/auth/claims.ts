import { RESTRICTED_LIFETIME, type RegisteredKey } from './keys.js';
import { parsePolicy, type RefPolicy } from './policy.js';
import { type Check, reject } from './rejection.js';
import type { Scope } from './scope.js';
import type { TokenType } from './token.js';

/** Claims (members of the payload) of a token whose signature was verified. Times are in seconds since 1970. */
export interface Claims {
  /** Name of the organization that issued the token. */
  readonly iss: string;
  /** Name that the client gave to its user. The service only logs it. */
  readonly sub: string;
  readonly scopes: readonly Scope[];
  /** Name of the only repository that the token gives access to. Absent in tokens for the whole organization. */
  readonly repo?: string;
  readonly iat?: number;
  readonly exp?: number;
  readonly nbf?: number;
  /** Operations on refs that the token forbids, parsed from the claims `refs` and `ops`. */
  readonly policy: RefPolicy;
}

type Payload = Readonly<Record<string, unknown>>;

/** Maximum number of scopes in one token. It is several times the number of existing scopes. */
const MAX_SCOPES = 64;

/** Check of the claims' types. It depends only on the claims. */
interface FormRule {
  readonly check: Check;
  readonly reason: string;
  holds(payload: Payload): boolean;
}

const FORM_RULES: readonly FormRule[] = [
  {
    check: 'subject',
    reason: 'its claim sub is missing or is not a string',
    holds: ({ sub }) => typeof sub === 'string',
  },
  {
    check: 'scopes',
    reason: `its claim scopes must be an array of 1 to ${MAX_SCOPES} strings`,
    holds: ({ scopes }) => isScopeList(scopes),
  },
  { check: 'times', reason: 'its claim iat is not a number of seconds', holds: ({ iat }) => isTime(iat) },
  { check: 'times', reason: 'its claim exp is not a number of seconds', holds: ({ exp }) => isTime(exp) },
  { check: 'times', reason: 'its claim nbf is not a number of seconds', holds: ({ nbf }) => isTime(nbf) },
  {
    check: 'repo',
    reason: 'its claim repo is not a string',
    holds: ({ repo }) => repo === undefined || typeof repo === 'string',
  },
];

/**
 * Parses the payload of a token with a verified signature. Throws a `Rejection` that names the first failed check of
 * `FORM_RULES`.
 */
export function parseClaims(payload: Payload): Claims {
  for (const rule of FORM_RULES) {
    if (!rule.holds(payload)) throw reject(rule.check, rule.reason);
  }
  const { iss, sub, scopes, repo, iat, exp, nbf } = payload as unknown as Claims;
  return {
    iss,
    sub,
    scopes,
    policy: parsePolicy(payload.refs, payload.ops),
    ...(repo === undefined ? {} : { repo }),
    ...(iat === undefined ? {} : { iat }),
    ...(exp === undefined ? {} : { exp }),
    ...(nbf === undefined ? {} : { nbf }),
  };
}

/** Settings for token requirements that the specification leaves open. */
export interface TokenVariants {
  readonly tokenType: 'required' | 'optional' | 'ignored';
  readonly expNotAfterIat: 'rejected' | 'accepted';
  readonly missingExp: 'accepted' | 'rejected';
}

/** Facts besides the claims that decide if a token is accepted. They are collected again for each request. */
export interface UseContext {
  /** Registered key with which the token was signed. */
  readonly key: RegisteredKey;
  /** Value of the token's header `typ`. */
  readonly type: TokenType;
  /** Current time in milliseconds on the emulator's clock, which a test can set. */
  readonly now: number;
  /** True if the organization has the hosting feature. Otherwise the `deployment:*` scopes count as unknown scopes. */
  readonly hosting: boolean;
  /** Name of the organization to which the request's host belongs. */
  readonly tenant: string;
  readonly variants: TokenVariants;
}

/** Check of a verified token. It is repeated for each request, because time and settings change. */
interface UseRule {
  readonly check: Check;
  readonly reason: string;
  holds(claims: Claims, context: UseContext): boolean;
  /**
   * Returns the values that caused the failure, as text. Only the journal (list of all requests, for tests) shows this
   * text.
   */
  shows(claims: Claims, context: UseContext): string;
}

/** For each kind of `typ` header, the values of the setting `tokenType` that accept the token. */
const TYPES_ACCEPTED: Readonly<Record<TokenType, readonly TokenVariants['tokenType'][]>> = {
  JWT: ['required', 'optional', 'ignored'],
  missing: ['optional', 'ignored'],
  other: ['ignored'],
};

const USE_RULES: readonly UseRule[] = [
  {
    check: 'type',
    reason: 'its header member typ is not JWT',
    holds: (_claims, { type, variants }) => TYPES_ACCEPTED[type].includes(variants.tokenType),
    shows: (_claims, { type }) => `typ is ${type}`,
  },
  {
    check: 'times',
    reason: 'its claim exp (expiry) is not after its claim iat (time of issue)',
    holds: ({ iat, exp }, { key, variants }) =>
      iat === undefined ||
      exp === undefined ||
      exp > iat ||
      (variants.expNotAfterIat === 'accepted' && !key.isRestricted),
    shows: ({ iat, exp }) => `iat is ${showTime(iat! * 1000)}, exp is ${showTime(exp! * 1000)}`,
  },
  {
    check: 'times',
    reason: 'its claim exp (expiry) is missing',
    // Tokens of restricted keys pass this check, because the later check `restricted-key` requires their `exp`.
    holds: ({ exp }, { key, variants }) => exp !== undefined || variants.missingExp === 'accepted' || key.isRestricted,
    shows: () => 'exp is missing',
  },
  {
    check: 'scopes',
    reason: 'its claim scopes contains an unknown scope',
    holds: ({ scopes }, { hosting }) => scopes.every((scope) => (hosting ? ALL_SCOPES : BASIC_SCOPES).has(scope)),
    shows: (claims, { hosting }) => `${showScopes(claims)}; hosting is ${hosting ? 'on' : 'off'}`,
  },
  {
    check: 'expired',
    reason: 'its claim exp (expiry) is in the past',
    holds: ({ exp }, { now }) => exp === undefined || exp * 1000 > now,
    shows: ({ exp }, { now }) => `exp is ${showTime(exp! * 1000)}, the current time is ${showTime(now)}`,
  },
  {
    check: 'not-yet-valid',
    reason: 'its claim nbf (start of validity) is in the future',
    holds: ({ nbf }, { now }) => nbf === undefined || nbf * 1000 <= now,
    shows: ({ nbf }, { now }) => `nbf is ${showTime(nbf! * 1000)}, the current time is ${showTime(now)}`,
  },
  {
    check: 'restricted-key',
    reason: 'its claims iat and exp must be whole numbers of seconds, because its key is restricted',
    holds: ({ iat, exp }, { key }) => !key.isRestricted || (Number.isSafeInteger(iat) && Number.isSafeInteger(exp)),
    shows: ({ iat, exp }, { key }) => `the key is ${key.kid}, iat is ${iat ?? 'missing'}, exp is ${exp ?? 'missing'}`,
  },
  {
    check: 'restricted-key',
    reason: `its claim exp may be at most ${RESTRICTED_LIFETIME} seconds after iat, because its key is restricted`,
    holds: ({ iat, exp }, { key }) => !key.isRestricted || exp! - iat! <= RESTRICTED_LIFETIME,
    shows: ({ iat, exp }, { key }) => `the key is ${key.kid}, exp is ${exp! - iat!} seconds after iat`,
  },
  {
    check: 'restricted-key',
    reason: 'its claim scopes contains a scope that its key, which is restricted, does not allow',
    holds: ({ scopes }, { key }) =>
      !key.isRestricted || scopes.every((scope) => (key.allowedScopes as readonly string[]).includes(scope)),
    shows: (claims, { key }) => `${showScopes(claims)}; the key ${key.kid} allows ${key.allowedScopes.join(' ')}`,
  },
  {
    check: 'tenant',
    reason: 'The credential is not valid for this tenant',
    holds: ({ iss }, { tenant }) => iss === tenant,
    shows: ({ iss }, { tenant }) => `iss is ${JSON.stringify(iss)}, the host belongs to ${JSON.stringify(tenant)}`,
  },
  {
    check: 'repo-missing',
    reason: 'The token has no repo claim, which every scope except org:read requires',
    holds: ({ repo, scopes }) => repo !== undefined || scopes.every((scope) => scope === 'org:read'),
    shows: showScopes,
  },
];

/**
 * Checks the claims of a verified token; called for each request. Throws a `Rejection` that names the first failed
 * check of `USE_RULES`.
 */
export function checkUse(claims: Claims, context: UseContext): void {
  for (const rule of USE_RULES) {
    if (!rule.holds(claims, context)) throw reject(rule.check, rule.reason, undefined, rule.shows(claims, context));
  }
}

/**
 * Returns the name of the repository that the token gives access to. Throws `repo_claim_missing` if the token has no
 * claim `repo`.
 */
export function requireRepo(claims: Claims): string {
  if (claims.repo === undefined)
    throw reject(
      'repo-missing',
      'The token has no repo claim, which this operation requires',
      undefined,
      showScopes(claims),
    );
  return claims.repo;
}

/** Throws `insufficient_scope` unless the token has all scopes in `needed`. No scope includes another scope. */
export function requireScopes(claims: Claims, needed: readonly Scope[]): void {
  for (const scope of needed) {
    if (!claims.scopes.includes(scope)) {
      const evidence = `the operation needs the scopes ${needed.join(' ')}, but the token has ${claims.scopes.join(' ')}`;
      throw reject('scope-missing', `The token lacks the scope ${scope}`, undefined, evidence);
    }
  }
}

const BASIC_SCOPES: ReadonlySet<Scope> = new Set<Scope>(['git:read', 'git:write', 'repo:write', 'org:read']);
const ALL_SCOPES: ReadonlySet<Scope> = new Set<Scope>([...BASIC_SCOPES, 'deployment:read', 'deployment:write']);

function showScopes({ scopes }: Claims): string {
  return `scopes is ${scopes.join(' ')}`;
}

/** Returns a time in ISO 8601. Returns the number as text if it is outside the range of `Date`. */
function showTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString();
}

function isTime(value: unknown): boolean {
  return value === undefined || Number.isFinite(value);
}

function isScopeList(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_SCOPES) return false;
  return value.every((scope) => typeof scope === 'string');
}

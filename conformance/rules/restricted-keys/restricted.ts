import { generateKeyPairSync } from 'node:crypto';
import type { TokenRecipe } from '../../auth/tokens.js';
import { hasNamespaces, inNamespace } from '../../check/admin.js';
import { expectOneOf } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import type { SigningKey } from '../../target/keys.js';
import { type RouteToken, refuseTokenEverywhere } from '../authentication/every-route.js';
import {
  acceptToken,
  allowedScopes,
  idOf,
  NONE_ALLOWED,
  placesOf,
  refuseTokens,
  refuseTokensAtSome,
  rejectsTokens,
  routesInside,
  UNKNOWN_KID,
  withKid,
} from '../authentication/token-checks.js';
import { SCOPES, type TokenPlace } from '../documented-operations.js';
import { type Check, defineRules, type RuleRow, rulesBy } from '../rule.js';
import { expectScopeMissing, expectTokenRefused, forEachPlace, ofGit, type Visit } from '../token-places.js';

/**
 * Settings of rules that try valid tokens of a restricted key. These rules only read. A restricted key has an allowlist
 * of scopes for its tokens.
 */
const READING = { reach: 'needs-setup' } as const;
const SETUP = { reach: 'needs-setup', writes: 'where-allowed' } as const;

/**
 * Expects tokens of the restricted key with these claims to be refused as invalid. Each element returns the claims for
 * the current time in seconds since the epoch.
 */
function refuseClaims(t: RuleContext, ...claims: readonly ((now: number) => Record<string, unknown>)[]): Promise<void> {
  return refuseTokens(t, ...claims.map((make) => ({ key: 'restricted' as const, claims: make(t.seconds) })));
}

const NONE_OUTSIDE = 'needs a restricted key that lacks some scope';

/**
 * Calls `visit` for each place (endpoint to which a token can be sent) whose scope the restricted key may not sign for.
 */
function forEachOutside(t: RuleContext, visit: (visit: Visit) => Promise<void>): Promise<void> {
  const allowed = allowedScopes(t);
  const isOutside = ({ scope }: TokenPlace) => !allowed.includes(scope);
  return forEachPlace(t, isOutside, visit, NONE_OUTSIDE);
}

/** Calls `visit` for each place (endpoint to which a token can be sent) whose scope the restricted key may sign for. */
async function forEachInside(t: RuleContext, visit: (visit: Visit) => Promise<void>): Promise<void> {
  await forEachPlace(t, await placesOf(t, 'restricted'), visit, NONE_ALLOWED);
}

/**
 * Allowlists for restricted keys that the suite registers. For each list, some endpoints need a scope on the list, and
 * others need a scope that is not on it.
 */
const LISTS: readonly (readonly string[])[] = [
  ['git:read', 'org:read'],
  ['git:write', 'repo:write'],
];

/**
 * Returns a check that covers every scope. It runs `check` with the target's restricted key. For scopes that are not on
 * that key's allowlist, it runs `check` again with keys that the suite registers.
 *
 * Registering keys requires a writable emulator. The keys belong to namespaces (isolated states of the emulator), so
 * they do not affect other rules.
 */
function withEveryScope(check: Check): Check {
  return async (t) => {
    const { restrictedKey: given } = t.target;
    if (!t.target.write || !hasNamespaces(t.target)) return check(t);
    const lists = given === undefined ? LISTS : [scopesBeside(given)].filter(({ length }) => length > 0);
    const tries = lists.map((scopes) => () => inNamespace(t, {}, check, newRestrictedKey(scopes)));
    await checkAny(given === undefined ? tries : [() => check(t), ...tries]);
  };
}

/** Runs all of these checks and ignores those that skip. Skips the rule if every check skips. */
async function checkAny(tries: readonly (() => Promise<unknown>)[]): Promise<void> {
  const skips: Skip[] = [];
  for (const check of tries) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof Skip)) throw error;
      skips.push(error);
    }
  }
  const [first] = skips;
  if (first !== undefined && skips.length === tries.length) throw first;
}

/** Returns the scopes that are not on the allowlist of a key. Returns an empty list if the allowlist is unknown. */
function scopesBeside({ allowedScopes }: SigningKey): readonly string[] {
  return allowedScopes === undefined ? [] : SCOPES.filter((scope) => !allowedScopes.includes(scope));
}

function newRestrictedKey(allowedScopes: readonly string[]): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { file: 'restricted.pem', algorithm: 'ES256', privateKey, id: 'restricted-by-the-suite', allowedScopes };
}

/** Beginning of the year 2100, in seconds since 1970. */
const YEAR_2100 = 4_102_444_800;
const TOO_LONG: TokenRecipe = { key: 'restricted', lifetime: 3601 };

/**
 * Returns the `iat` and `exp` claims of a token that is issued `since` seconds from now. A negative `since` is in the
 * past. `lifetime` is in seconds.
 */
function timesFrom({ seconds }: RuleContext, since: number, lifetime: number): { iat: number; exp: number } {
  return { iat: seconds + since, exp: seconds + since + lifetime };
}

/**
 * Returns the recipe with the restricted key's id as `kid` in its header. Returns the recipe unchanged if the id is
 * unknown.
 */
function withItsKid(t: RuleContext, recipe: TokenRecipe): TokenRecipe {
  return withKid(t, recipe, 'restricted') ?? recipe;
}

/** Names of the endpoints at which a rule tries two tokens: one without `kid` and one with it. */
const READ_NAMES = ['repo', 'list-repos', 'Git', 'Git push refs', 'pack'];

const RESTRICTED: readonly RuleRow[] = [
  ...rulesBy(
    refuseClaims,
    [
      [
        'restricted.iat.required',
        'A token of a restricted key without iat is rejected.',
        () => ({ iat: null }),
        () => ({ iat: null, exp: null }),
      ],
      ['restricted.exp.required', 'A token of a restricted key without exp is rejected.', () => ({ exp: null })],
      [
        'restricted.seconds',
        'A token of a restricted key with iat and exp in milliseconds is rejected.',
        (now) => ({ iat: now * 1000, exp: (now + 3600) * 1000 }),
      ],
      [
        'restricted.exp-after-iat.equal',
        'A token of a restricted key whose exp is not after its iat is rejected.',
        (now) => ({ iat: now + 600, exp: now + 600 }),
        (now) => ({ iat: now + 900, exp: now + 600 }),
      ],
    ],
    SETUP,
  ),
  {
    id: 'restricted.lifetime.3600',
    says: 'A token of a restricted key with a lifetime of 3600 seconds is accepted.',
    clauses: {
      'past-iat': 'A token with a lifetime of 3600 seconds is accepted half an hour after its iat.',
      kid: 'The token is accepted if its kid names the key that signed it.',
    },
    ...READING,
    check: async (t) => {
      await acceptToken(t, { key: 'restricted', lifetime: 3600 });
      await acceptToken(t, { key: 'restricted', claims: timesFrom(t, -1800, 3600) });
      await acceptToken(t, withItsKid(t, { key: 'restricted', lifetime: 3600 }));
    },
  },
  rejectsTokens(
    'restricted.lifetime.3601',
    'A token of a restricted key with a lifetime of 3601 seconds is rejected.',
    [TOO_LONG],
    {
      ...SETUP,
      clauses: {
        'past-iat': 'The lifetime counts from iat, not from now or from nbf.',
        kid: 'The limit holds for a token with the kid of the key as well.',
        'unknown-kid': 'The limit holds for a token with an unknown kid as well.',
        everywhere: 'Every operation rejects a lifetime above the limit, on each route of published clients.',
      },
      alsoRejects: (t) => [
        { key: 'restricted', claims: timesFrom(t, -1800, 3601) },
        { key: 'restricted', claims: { ...timesFrom(t, -7200, 7800), nbf: t.seconds - 600 } },
        withItsKid(t, TOO_LONG),
        { ...TOO_LONG, header: UNKNOWN_KID },
      ],
      everywhere: TOO_LONG,
    },
  ),
  rejectsTokens(
    'restricted.expired',
    'An expired token of a restricted key is rejected, even if its lifetime is within the limit.',
    [(_, t) => ({ key: 'restricted', claims: timesFrom(t, -7200, 3600) })],
    SETUP,
  ),
  {
    id: 'restricted.scope.inside',
    says: 'A scope in the allowlist of the key is accepted.',
    clauses: { several: 'A token that lists the whole allowlist is accepted.' },
    ...READING,
    check: async (t) => {
      await acceptToken(t, { key: 'restricted' });
      const { allowedScopes: scopes } = t.key('restricted');
      if (scopes !== undefined) await acceptToken(t, { key: 'restricted', scopes });
    },
  },
  {
    id: 'restricted.scope.outside',
    says: 'A scope outside the allowlist of the key makes the token invalid.',
    clauses: {
      kid: 'The allowlist holds for a token with the kid of the key as well.',
      'other-kid': 'The kid of an unrestricted key does not replace the allowlist of the key that signed the token.',
      'unknown-kid': 'The allowlist holds for a token with an unknown kid as well.',
    },
    ...SETUP,
    check: (t) =>
      forEachOutside(t, async ({ place, ask }) => {
        const recipe = { key: 'restricted' } as const;
        const refused = async (one: TokenRecipe) => expectTokenRefused(t, place, await ask(one));
        await refused(recipe);
        if (!READ_NAMES.includes(place.name)) return;
        await refused(withItsKid(t, recipe));
        await refused({ ...recipe, header: UNKNOWN_KID });
        const kid = idOf(t, 'main');
        if (kid !== undefined) await refused({ ...recipe, header: { kid } });
      }),
  },
  {
    id: 'restricted.scope.one-outside',
    says: 'One scope outside the allowlist makes the token invalid, even if its other scopes are in the allowlist.',
    clauses: {
      first: 'The scope outside may be the first of the list.',
      each: 'Each scope outside makes the token invalid.',
      everywhere: 'Every operation rejects a token with a scope outside, on each route of published clients.',
    },
    ...SETUP,
    check: async (t) => {
      const allowed = allowedScopes(t);
      const [outside, ...others] = SCOPES.filter((scope) => !allowed.includes(scope));
      if (outside === undefined) throw new Skip(NONE_OUTSIDE);
      await refuseTokens(t, ({ scope }) => ({ key: 'restricted', scopes: [scope, outside] }));
      await refuseTokensAtSome(t, ({ scope }) => ({ key: 'restricted', scopes: [outside, scope] }));
      for (const other of others) {
        await refuseTokensAtSome(t, ({ scope }) => ({ key: 'restricted', scopes: [scope, other] }));
      }
      const token: RouteToken = ({ operation }) => ({ key: 'restricted', scopes: [...operation.scopes, outside] });
      await refuseTokenEverywhere(t, token, { wanted: routesInside(t) });
    },
  },
  {
    id: 'restricted.scope.not-granted',
    says: 'A scope in the allowlist gives no access if the token does not list it.',
    ...SETUP,
    check: async (t) => {
      const allowed = allowedScopes(t);
      if (allowed.length < 2) throw new Skip('needs a restricted key with two scopes');
      await forEachInside(t, async ({ place, ask }) => {
        const others = allowed.filter((scope) => scope !== place.scope);
        expectScopeMissing(t, place, await ask({ key: 'restricted', scopes: others }));
      });
    },
  },
  {
    id: 'restricted.code',
    says: 'A token that breaks a rule of restricted keys is refused with forbidden, not with insufficient_scope.',
    ...SETUP,
    check: async (t) => {
      const namesToken = async ({ ask, place }: Visit, recipe: TokenRecipe) => {
        if (place.withoutCode.includes(403)) return;
        expectOneOf((await ask(recipe)).outcome, ['403 forbidden', '401 unauthorized'], 'the token must be refused');
      };
      await forEachInside(t, (visit) => namesToken(visit, TOO_LONG));
      await forEachOutside(t, (visit) => namesToken(visit, { key: 'restricted' }));
    },
  },
  {
    id: 'restricted.git',
    says: 'The rules of restricted keys apply to Git as well.',
    ...SETUP,
    check: async (t) => {
      const isInside = await placesOf(t, 'restricted');
      await forEachPlace(t, ofGit, async ({ place, ask }) => {
        const defect = isInside(place) ? TOO_LONG : { key: 'restricted' as const };
        expectTokenRefused(t, place, await ask(defect));
      });
    },
  },
];

export const restrictedKeys = defineRules('Restricted keys', 'restricted-keys', [
  ...RESTRICTED.map(({ check, ...row }) => ({ ...row, ...(check && { check: withEveryScope(check) }) })),
  {
    id: 'unrestricted.no-lifetime-limit',
    says: 'A token of an unrestricted key may be valid for years.',
    clauses: {
      everywhere: 'Every operation, and Git, accepts a token of an unrestricted key that is valid for years.',
      century: 'exp may be after the year 2038, whose seconds need more than 31 bits.',
      old: 'A token is accepted a week after its iat.',
    },
    check: async (t) => {
      for (const lifetime of [31_536_000, 315_360_000]) await acceptToken(t, { lifetime });
      await acceptToken(t, { claims: { exp: YEAR_2100 } });
      await acceptToken(t, { claims: { iat: t.seconds - 7 * 86_400, exp: t.seconds + 3600 } });
    },
  },
  rejectsTokens(
    'unrestricted.scopes-still-valid',
    'A token of an unrestricted key with an unknown scope is rejected.',
    [({ scope }) => ({ scopes: [scope, 'everything'] })],
    {
      clauses: { first: 'The unknown scope may be the first of the list.' },
      alsoRejects: () => [({ scope }) => ({ scopes: ['everything', scope] })],
    },
  ),
]);

import { generateKeyPairSync } from 'node:crypto';
import type { TokenRecipe } from '../../auth/tokens.js';
import { hasNamespaces, inNamespace } from '../../check/admin.js';
import { expectOneOf, expectStatus } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import type { SigningKey } from '../../target/keys.js';
import {
  acceptsToken,
  allowedScopes,
  NONE_ALLOWED,
  placesOf,
  readWithToken,
  refuseTokens,
  rejectsTokens,
} from '../authentication/token-checks.js';
import { SCOPES, type TokenPlace } from '../documented-operations.js';
import { type Check, defineRules, type RuleRow, rulesBy } from '../rule.js';
import { expectScopeMissing, expectTokenRefused, forEachPlace, ofGit, type Visit } from '../token-places.js';

/**
 * Settings of rules that try valid tokens of a restricted key (key with an allowlist of scopes). They only send reads.
 */
const READING = { reach: 'needs-setup' } as const;
const SETUP = { reach: 'needs-setup', writes: 'where-allowed' } as const;

/** Expects tokens of the restricted key with these claims to be refused as invalid. `now`: seconds since the epoch. */
function refuseClaims(t: RuleContext, ...claims: readonly ((now: number) => Record<string, unknown>)[]): Promise<void> {
  return refuseTokens(t, ...claims.map((make) => ({ key: 'restricted' as const, claims: make(t.seconds) })));
}

const NONE_OUTSIDE = 'needs a restricted key that lacks some scope';

/**
 * Calls `visit` for each place (endpoint at which a token can be sent) whose scope is not on the allowlist of the
 * restricted key.
 */
function forEachOutside(t: RuleContext, visit: (visit: Visit) => Promise<void>): Promise<void> {
  const allowed = allowedScopes(t);
  const isOutside = ({ scope }: TokenPlace) => !allowed.includes(scope);
  return forEachPlace(t, isOutside, visit, NONE_OUTSIDE);
}

/**
 * Calls `visit` for each place (endpoint at which a token can be sent) whose scope is on the allowlist of the
 * restricted key.
 */
async function forEachInside(t: RuleContext, visit: (visit: Visit) => Promise<void>): Promise<void> {
  await forEachPlace(t, await placesOf(t, 'restricted'), visit, NONE_ALLOWED);
}

/**
 * Allowlists of the restricted keys that the suite registers. With each list, some endpoints need a scope on the list
 * and others a scope outside of it.
 */
const LISTS: readonly (readonly string[])[] = [
  ['git:read', 'org:read'],
  ['git:write', 'repo:write'],
];

/**
 * Returns a check that uses the restricted key of the target. For scopes that are not on its allowlist, the check runs
 * again with keys that the suite registers itself. This requires a writable emulator. The keys belong to namespaces
 * (isolated states of the emulator), where they do not affect other rules.
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

/** Runs all of these checks, and ignores those that skip. Skips the rule if all of them do. */
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

/** Returns the scopes that are not on the allowlist of a key; empty if the allowlist is unknown. */
function scopesBeside({ allowedScopes }: SigningKey): readonly string[] {
  return allowedScopes === undefined ? [] : SCOPES.filter((scope) => !allowedScopes.includes(scope));
}

function newRestrictedKey(allowedScopes: readonly string[]): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { file: 'restricted.pem', algorithm: 'ES256', privateKey, id: 'restricted-by-the-suite', allowedScopes };
}

const TOO_LONG: TokenRecipe = { key: 'restricted', lifetime: 3601 };

const RESTRICTED: readonly RuleRow[] = [
  ...rulesBy(
    refuseClaims,
    [
      ['restricted.iat.required', 'A token of a restricted key without iat is rejected.', () => ({ iat: null })],
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
  acceptsToken(
    'restricted.lifetime.3600',
    'A token of a restricted key with a lifetime of 3600 seconds is accepted.',
    { key: 'restricted', lifetime: 3600 },
    READING,
  ),
  rejectsTokens(
    'restricted.lifetime.3601',
    'A token of a restricted key with a lifetime of 3601 seconds is rejected.',
    [TOO_LONG],
    SETUP,
  ),
  acceptsToken(
    'restricted.scope.inside',
    'A scope in the allowlist of the key is accepted.',
    { key: 'restricted' },
    READING,
  ),
  {
    id: 'restricted.scope.outside',
    says: 'A scope outside the allowlist of the key makes the token invalid.',
    ...SETUP,
    check: (t) =>
      forEachOutside(t, async ({ place, ask }) => expectTokenRefused(t, place, await ask({ key: 'restricted' }))),
  },
  {
    id: 'restricted.scope.one-outside',
    says: 'One scope outside the allowlist makes the token invalid, even if its other scopes are in the allowlist.',
    ...SETUP,
    check: async (t) => {
      const allowed = allowedScopes(t);
      const outside = SCOPES.find((scope) => !allowed.includes(scope));
      if (outside === undefined) throw new Skip(NONE_OUTSIDE);
      await refuseTokens(t, ({ scope }) => ({ key: 'restricted', scopes: [scope, outside] }));
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
    check: async (t) => {
      for (const lifetime of [31_536_000, 315_360_000]) expectStatus(await readWithToken(t, { lifetime }), 200);
    },
  },
  rejectsTokens(
    'unrestricted.scopes-still-valid',
    'A token of an unrestricted key with an unknown scope is rejected.',
    [({ scope }) => ({ scopes: [scope, 'everything'] })],
  ),
]);

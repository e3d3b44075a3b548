import { packLines, sendPack } from '../../api/commit-pack.js';
import { listRepos } from '../../api/requests.js';
import type { TokenRecipe } from '../../auth/tokens.js';
import { expectOneOf, expectRefused, expectStatus, expectTrue } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, sampleRepository } from '../../fixtures/repositories.js';
import { advertise, showsRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { acceptsToken, readWithToken, rejectsTokens } from '../authentication/token-checks.js';
import { defineRules, type RuleRow } from '../rule.js';

const SETUP = { reach: 'needs-setup' } as const;

/** A token of the restricted key with these claims is refused. `now`: seconds since the epoch. */
function rejectsClaims(
  id: string,
  says: string,
  ...claims: readonly ((now: number) => Record<string, unknown>)[]
): RuleRow {
  return {
    id,
    says,
    ...SETUP,
    check: async (t) => {
      for (const make of claims)
        t.expectTokenRefused(await readWithToken(t, { key: 'restricted', claims: make(t.seconds) }), 'repo');
    },
  };
}

function allowed(t: RuleContext): readonly string[] {
  const { allowedScopes } = t.key('restricted');
  if (allowedScopes === undefined) throw new Skip('needs the allowlist of the restricted key: --restricted-scopes');
  return allowedScopes;
}

/** A git:write token of a key that may not give git:write. */
async function writeOutside(t: RuleContext) {
  const { name: repo } = await groupRepository(t);
  if (allowed(t).includes('git:write')) throw new Skip('needs a restricted key without git:write');
  return sendPack(t, repo, packLines({ 'x.txt': 'x' }), { as: { repo, scopes: ['git:write'], key: 'restricted' } });
}

const TOO_LONG: TokenRecipe = { key: 'restricted', lifetime: 3601 };

export const restrictedKeys = defineRules('Restricted keys', 'restricted-keys', [
  rejectsClaims('restricted.iat.required', 'A token of a restricted key without iat is refused.', () => ({
    iat: null,
  })),
  rejectsClaims('restricted.exp.required', 'A token of a restricted key without exp is refused.', () => ({
    exp: null,
  })),
  rejectsClaims('restricted.seconds', 'Times in milliseconds are refused.', (now) => ({
    iat: now * 1000,
    exp: (now + 3600) * 1000,
  })),
  rejectsClaims(
    'restricted.exp-after-iat.equal',
    'An exp that is not after iat is refused.',
    (now) => ({ iat: now + 600, exp: now + 600 }),
    (now) => ({ iat: now + 900, exp: now + 600 }),
  ),
  acceptsToken(
    'restricted.lifetime.3600',
    'A lifetime of 3600 seconds is accepted.',
    { key: 'restricted', lifetime: 3600 },
    SETUP,
  ),
  rejectsTokens('restricted.lifetime.3601', 'A lifetime of 3601 seconds is refused.', [TOO_LONG], SETUP),
  acceptsToken(
    'restricted.scope.inside',
    'A scope on the list of the key is accepted.',
    { key: 'restricted', scopes: ['git:read'] },
    SETUP,
  ),
  {
    id: 'restricted.scope.outside',
    says: 'A scope that is not on the list makes the token invalid.',
    ...SETUP,
    writes: true,
    check: async (t) => t.expectTokenRefused(await writeOutside(t), 'pack'),
  },
  {
    id: 'restricted.scope.one-outside',
    says: 'One scope that is not on the list spoils the others.',
    ...SETUP,
    check: async (t) => {
      const outside = ['git:write', 'repo:write', 'org:read'].find((scope) => !allowed(t).includes(scope));
      if (outside === undefined) throw new Skip('needs a restricted key that lacks some scope');
      t.expectTokenRefused(await readWithToken(t, { key: 'restricted', scopes: ['git:read', outside] }), 'repo');
    },
  },
  {
    id: 'restricted.scope.not-granted',
    says: 'A scope on the list that the token does not ask for is not given.',
    ...SETUP,
    writes: true,
    check: async (t) => {
      const { name: repo } = await groupRepository(t);
      const as: TokenRecipe = { repo, scopes: ['git:read'], key: 'restricted' };
      if (allowed(t).includes('org:read')) {
        return t.tolerate('A02', 'missing scope, list-repos', await listRepos(t, {}, { as }), [
          '403 insufficient_scope',
        ]);
      }
      if (!allowed(t).includes('git:write')) throw new Skip('needs a restricted key with two scopes');
      const answer = await sendPack(t, repo, packLines({ 'x.txt': 'x' }), { as });
      t.tolerate('A02', 'missing scope, pack', answer, ['403 insufficient_scope', '401']);
    },
  },
  {
    id: 'restricted.code',
    says: 'A breach of these rules is forbidden, not insufficient_scope.',
    ...SETUP,
    check: async (t) => {
      for (const answer of [await readWithToken(t, TOO_LONG), await writeOutside(t)]) {
        expectOneOf(answer.outcome, ['403 forbidden', '401 unauthorized'], 'the code names the token');
      }
    },
  },
  {
    id: 'restricted.git',
    says: 'The same holds for Git.',
    ...SETUP,
    check: async (t) => {
      const { name: repo } = await sampleRepository(t);
      const answer = await advertise(t, gitPath(repo), { repo, ...TOO_LONG });
      expectRefused(answer);
      expectTrue(!showsRefs(answer), 'no ref is shown');
    },
  },
  {
    id: 'unrestricted.no-lifetime-limit',
    says: 'A token of an unrestricted key may live for years.',
    check: async (t) => {
      for (const lifetime of [31_536_000, 315_360_000]) expectStatus(await readWithToken(t, { lifetime }), 200);
    },
  },
  rejectsTokens('unrestricted.scopes-still-valid', 'An unrestricted key cannot sign for a scope that nobody knows.', [
    { scopes: ['everything'] },
  ]),
]);

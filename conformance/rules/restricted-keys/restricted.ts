import type { TokenRecipe } from '../../auth/tokens.js';
import { expectOneOf, expectRefused, expectStatus, expectSuccess, expectTrue } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import { advertise, showsRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { readWithToken, rejectsTokens } from '../authentication/token-checks.js';
import { documentedOperation, SCOPES } from '../documented-operations.js';
import { defineRules, type RuleRow } from '../rule.js';
import { allowedOperation, allowedScopes, allowedTrial, forbiddenOperation } from './allowed-scope.js';

const SETUP = { reach: 'needs-setup' } as const;

/** A token of the restricted key that is made so is refused. `now`: seconds since the epoch. */
function rejects(id: string, says: string, ...recipes: readonly ((now: number) => TokenRecipe)[]): RuleRow {
  return {
    id,
    says,
    ...SETUP,
    check: async (t) => {
      const trial = await allowedTrial(t);
      for (const make of recipes) trial.expectTokenRefused(t, await trial.send(t, make(t.seconds)));
    },
  };
}

/** A token of the restricted key that is made so is accepted. */
function accepts(id: string, says: string, recipe: TokenRecipe): RuleRow {
  return {
    id,
    says,
    ...SETUP,
    check: async (t) => expectSuccess(await (await allowedTrial(t)).send(t, recipe)),
  };
}

const TOO_LONG: TokenRecipe = { lifetime: 3601 };

export const restrictedKeys = defineRules('Restricted keys', 'restricted-keys', [
  rejects('restricted.iat.required', 'A token of a restricted key without iat is refused.', () => ({
    claims: { iat: null },
  })),
  rejects('restricted.exp.required', 'A token of a restricted key without exp is refused.', () => ({
    claims: { exp: null },
  })),
  rejects('restricted.seconds', 'Times in milliseconds are refused.', (now) => ({
    claims: { iat: now * 1000, exp: (now + 3600) * 1000 },
  })),
  rejects(
    'restricted.exp-after-iat.equal',
    'An exp that is not after iat is refused.',
    (now) => ({ claims: { iat: now + 600, exp: now + 600 } }),
    (now) => ({ claims: { iat: now + 900, exp: now + 600 } }),
  ),
  accepts('restricted.lifetime.3600', 'A lifetime of 3600 seconds is accepted.', { lifetime: 3600 }),
  rejects('restricted.lifetime.3601', 'A lifetime of 3601 seconds is refused.', () => TOO_LONG),
  accepts('restricted.scope.inside', 'A scope on the list of the key is accepted.', {}),
  {
    id: 'restricted.scope.outside',
    says: 'A scope that is not on the list makes the token invalid.',
    ...SETUP,
    writes: true,
    check: async (t) => {
      const operation = forbiddenOperation(t);
      const repo = await operation.repo(t);
      const as: TokenRecipe = { repo, scopes: [operation.scope], key: 'restricted' };
      t.expectTokenRefused(await operation.send(t, repo, { as }), operation.name);
    },
  },
  {
    id: 'restricted.scope.one-outside',
    says: 'One scope that is not on the list spoils the others.',
    ...SETUP,
    check: async (t) => {
      const allowed = allowedScopes(t);
      const outside = SCOPES.find((scope) => !allowed.includes(scope));
      if (outside === undefined) throw new Skip('needs a restricted key that lacks some scope');
      const trial = await allowedTrial(t);
      const { name: repo } = await sampleRepository(t);
      trial.expectTokenRefused(t, await trial.send(t, { repo, scopes: [trial.scope, outside] }));
    },
  },
  {
    id: 'restricted.scope.not-granted',
    says: 'A scope on the list that the token does not ask for is not given.',
    ...SETUP,
    writes: true,
    check: async (t) => {
      const operation = allowedOperation(t);
      const asked = allowedScopes(t).find((scope) => scope !== operation.scope);
      if (asked === undefined) throw new Skip('needs a restricted key with two scopes');
      const repo = await operation.repo(t);
      const answer = await operation.send(t, repo, { as: { repo, scopes: [asked], key: 'restricted' } });
      t.tolerate('A02', `missing scope, ${operation.name}`, answer, operation.lacksScope);
    },
  },
  {
    id: 'restricted.code',
    says: 'A breach of these rules is forbidden, not insufficient_scope.',
    ...SETUP,
    check: async (t) => {
      const scope = allowedScopes(t).includes('org:read') ? 'org:read' : 'git:read';
      const { name: repo } = await sampleRepository(t);
      const lacking = SCOPES.filter((one) => !allowedScopes(t).includes(one));
      const recipes: TokenRecipe[] = [TOO_LONG, ...(lacking.length > 0 ? [{ scopes: [scope, ...lacking] }] : [])];
      for (const recipe of recipes) {
        const as: TokenRecipe = { repo, scopes: [scope], key: 'restricted', ...recipe };
        const { outcome } = await documentedOperation(scope === 'org:read' ? 'meta' : 'repo').send(t, repo, { as });
        expectOneOf(outcome, ['403 forbidden', '401 unauthorized'], 'the code names the token');
      }
    },
  },
  {
    id: 'restricted.git',
    says: 'The same holds for Git.',
    ...SETUP,
    check: async (t) => {
      const { name: repo } = await sampleRepository(t);
      const services = { 'git:read': 'git-upload-pack', 'git:write': 'git-receive-pack' } as const;
      const scope = (['git:read', 'git:write'] as const).find((one) => allowedScopes(t).includes(one));
      if (scope === undefined) throw new Skip('needs a restricted key with a scope for Git');
      const recipe: TokenRecipe = { repo, scopes: [scope], key: 'restricted' };
      expectStatus(await advertise(t, gitPath(repo), recipe, services[scope]), 200);
      const answer = await advertise(t, gitPath(repo), { ...recipe, ...TOO_LONG }, services[scope]);
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

import { getRepo } from '../../api/requests.js';
import type { TokenRecipe } from '../../auth/tokens.js';
import type { Answer } from '../../check/answer.js';
import { expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import type { RuleRow } from '../rule.js';

/** GET /api/v1/repo of the sample with a token of this kind. */
export async function readWithToken(t: RuleContext, recipe: TokenRecipe): Promise<Answer> {
  const { name } = await sampleRepository(t);
  return getRepo(t, name, { as: { repo: name, scopes: ['git:read'], ...recipe } });
}

/** A rule that such a token is accepted. */
export function acceptsToken(id: string, says: string, recipe: TokenRecipe, more: Partial<RuleRow> = {}): RuleRow {
  return { id, says, ...more, check: async (t) => expectStatus(await readWithToken(t, recipe), 200) };
}

/** A rule that tokens of these kinds are refused as invalid. */
export function rejectsTokens(
  id: string,
  says: string,
  recipes: readonly TokenRecipe[],
  more: Partial<RuleRow> = {},
): RuleRow {
  return {
    id,
    says,
    ...more,
    check: async (t) => {
      for (const recipe of recipes) t.expectTokenRefused(await readWithToken(t, recipe), 'repo');
    },
  };
}

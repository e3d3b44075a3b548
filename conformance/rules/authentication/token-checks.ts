import { getRepo } from '../../api/requests.js';
import type { TokenRecipe } from '../../auth/tokens.js';
import type { Answer } from '../../check/answer.js';
import { expectStatus } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import type { RuleRow } from '../rule.js';
import { expectTokenRefused, forEachPlace, type TokenDraft, type TokenPlace } from '../token-places.js';

/** GET /api/v1/repo of the sample with a token of this kind. */
export async function readWithToken(t: RuleContext, recipe: TokenRecipe): Promise<Answer> {
  const { name } = await sampleRepository(t);
  return getRepo(t, name, { as: { repo: name, scopes: ['git:read'], ...recipe } });
}

/** What the restricted key may sign for. Skips the rule where that is not known. */
export function allowedScopes(t: RuleContext): readonly string[] {
  const { allowedScopes } = t.key('restricted');
  if (allowedScopes === undefined) throw new Skip('needs the allowlist of the restricted key: --restricted-scopes');
  return allowedScopes;
}

/** The places that a key may sign for, so that nothing else is wrong with its tokens. */
function isFor(t: RuleContext, { key }: TokenRecipe): (place: TokenPlace) => boolean {
  if (key !== 'restricted') return () => true;
  const allowed = allowedScopes(t);
  return ({ scope }) => allowed.includes(scope);
}

export const NONE_ALLOWED = 'needs a restricted key that may sign for an operation of the specification';

/** Where tokens that are good are tried: nothing is written there. */
const READING = ['repo', 'list-repos', 'Git', 'Git push refs'];

/** Such a token is accepted by the API and by Git. */
export function acceptToken(t: RuleContext, recipe: TokenRecipe): Promise<void> {
  const isAllowed = isFor(t, recipe);
  return forEachPlace(
    t,
    (place) => READING.includes(place.name) && isAllowed(place),
    async ({ ask }) => expectStatus(await ask(recipe), 200),
    NONE_ALLOWED,
  );
}

/** Tokens of these kinds are refused as invalid everywhere. What the key may not sign for anyway is left out. */
export async function refuseTokens(t: RuleContext, ...drafts: readonly TokenDraft[]): Promise<void> {
  for (const draft of drafts) {
    const isAllowed = (place: TokenPlace) => isFor(t, typeof draft === 'function' ? draft(place) : draft)(place);
    await forEachPlace(
      t,
      isAllowed,
      async ({ place, ask }) => expectTokenRefused(t, place, await ask(draft)),
      NONE_ALLOWED,
    );
  }
}

/** A rule that such a token is accepted. */
export function acceptsToken(id: string, says: string, recipe: TokenRecipe, more: Partial<RuleRow> = {}): RuleRow {
  return { id, says, ...more, check: (t) => acceptToken(t, recipe) };
}

/** A rule that tokens of these kinds are refused as invalid. */
export function rejectsTokens(
  id: string,
  says: string,
  drafts: readonly TokenDraft[],
  more: Partial<RuleRow> = {},
): RuleRow {
  return { id, says, ...more, check: (t) => refuseTokens(t, ...drafts) };
}

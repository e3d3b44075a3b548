import { getRepo } from '../../api/requests.js';
import type { KeyRole, TokenRecipe } from '../../auth/tokens.js';
import { hasNamespaces } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectStatus } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import type { TokenPlace } from '../documented-operations.js';
import type { RuleRow } from '../rule.js';
import { expectTokenRefused, forEachPlace, TOKEN_PLACES, type TokenDraft, type Visit } from '../token-places.js';

/** Sends GET /api/v1/repo for the sample repository. The token has the scope `git:read`, changed as the recipe says. */
export async function readWithToken(t: RuleContext, recipe: TokenRecipe): Promise<ApiResponse> {
  const { name } = await sampleRepository(t);
  return getRepo(t, name, { as: { repo: name, scopes: ['git:read'], ...recipe } });
}

/** Returns a check that sends GET /api/v1/repo for the sample repository with such a token. */
export const tokenRead = (recipe: TokenRecipe) => (t: RuleContext) => readWithToken(t, recipe);

/**
 * Returns the scopes on the allowlist of the restricted key (key whose tokens may have only these scopes). Skips the
 * rule if the allowlist is unknown.
 */
export function allowedScopes(t: RuleContext): readonly string[] {
  const { allowedScopes } = t.key('restricted');
  if (allowedScopes === undefined) throw new Skip('needs the allowlist of the restricted key: --restricted-scopes');
  return allowedScopes;
}

export const NONE_ALLOWED = 'needs a restricted key that may sign for an operation of the specification';

/**
 * Names of the endpoints (`token-places.ts`) at which rules try tokens that must be accepted. Requests to them only
 * read.
 */
const READING = ['repo', 'list-repos', 'Git', 'Git push refs'];

/**
 * Returns the scopes that tokens of the restricted key may have. If the target file does not list them, sends a token
 * with each scope to find out.
 */
async function scopesInside(t: RuleContext): Promise<readonly string[]> {
  const { allowedScopes } = t.key('restricted');
  if (allowedScopes !== undefined) return allowedScopes;
  const found: string[] = [];
  const isReading = ({ name }: TokenPlace) => READING.includes(name);
  await forEachPlace(t, isReading, async ({ place, ask }) => {
    if ((await ask({ key: 'restricted' })).status === 200) found.push(place.scope);
  });
  return found;
}

/**
 * Returns a filter for the places (endpoints at which a token can be sent) whose scope the key may sign for, so that
 * the scope is no reason to refuse a token.
 */
export async function placesOf(t: RuleContext, key: KeyRole = 'main'): Promise<(place: TokenPlace) => boolean> {
  t.key(key);
  if (key !== 'restricted') return () => true;
  const inside = await scopesInside(t);
  const leftOut = TOKEN_PLACES.filter(({ scope }) => !inside.includes(scope)).map(({ name }) => name);
  // The places that are left out are not reported if the suite can register keys, because other rules then try them
  // with another key.
  if (leftOut.length > 0 && !(t.target.write && hasNamespaces(t.target)))
    t.observe('left out, as the restricted key has no scope for it', leftOut);
  return ({ scope }) => inside.includes(scope);
}

/** Expects the read-only endpoints of the API and of Git to respond 200 to a token of this recipe. */
export async function acceptToken(t: RuleContext, recipe: TokenRecipe): Promise<void> {
  const isAllowed = await placesOf(t, recipe.key);
  const isTried = (place: TokenPlace) => READING.includes(place.name) && isAllowed(place);
  await forEachPlace(t, isTried, async ({ ask }) => void expectStatus(await ask(recipe), 200), NONE_ALLOWED);
}

/**
 * Expects tokens of these kinds to be refused as invalid at every place (endpoint at which a token can be sent) whose
 * scope the key may sign for.
 */
export async function refuseTokens(t: RuleContext, ...drafts: readonly TokenDraft[]): Promise<void> {
  for (const draft of drafts) {
    const isAllowed = await placesOf(t, keyFor(t, draft));
    const visit = async ({ place, ask }: Visit) => expectTokenRefused(t, place, await ask(draft));
    await forEachPlace(t, isAllowed, visit, NONE_ALLOWED);
  }
}

/**
 * Names of the endpoints (`token-places.ts`) at which a rule tries further kinds of bad tokens, in addition to one kind
 * that it tries at every endpoint: one of each scope of the API, and one of Git.
 */
const SOME = ['repo', 'pack', 'list-repos', 'Git'];

/** Returns the id under which a key is registered at the target; undefined if it is unknown. */
export function idOf(t: RuleContext, role: KeyRole): string | undefined {
  return t.run.signer.key(role)?.id;
}

/**
 * Expects tokens of these kinds to be refused as invalid at a few places (`SOME`) whose scope the key may sign for. An
 * undefined draft is ignored, so that a rule can omit a token for which the target lacks a key.
 */
export async function refuseTokensAtSome(t: RuleContext, ...drafts: readonly (TokenDraft | undefined)[]) {
  for (const draft of drafts) {
    if (draft === undefined) continue;
    const isAllowed = await placesOf(t, keyFor(t, draft));
    const isTried = (place: TokenPlace) => SOME.includes(place.name) && isAllowed(place);
    // A restricted key may sign for none of these endpoints. The rule then tries other tokens elsewhere.
    if (!TOKEN_PLACES.some((place) => isTried(place) && (t.target.write || !place.writes))) continue;
    await forEachPlace(t, isTried, async ({ place, ask }) => expectTokenRefused(t, place, await ask(draft)));
  }
}

/** Returns the role of the key that signs the tokens of a draft; undefined for the main key. */
function keyFor(t: RuleContext, draft: TokenDraft): KeyRole | undefined {
  const recipes = typeof draft === 'function' ? TOKEN_PLACES.map((place) => draft(place, t)) : [draft];
  return recipes.find(({ key }) => key !== undefined)?.key;
}

/** Settings of a rule about refused tokens, besides id, sentence and the tokens that it tries at every endpoint. */
interface MoreOfRejection extends Partial<RuleRow> {
  /** Returns further tokens, which the rule tries at a few endpoints (`refuseTokensAtSome`). */
  readonly alsoRejects?: (t: RuleContext) => readonly (TokenDraft | undefined)[];
}

/** Defines a rule that a token of this recipe is accepted by the API and by Git. */
export function acceptsToken(id: string, says: string, recipe: TokenRecipe, more: Partial<RuleRow> = {}): RuleRow {
  return { id, says, ...more, check: (t) => acceptToken(t, recipe) };
}

/** Defines a rule that tokens of these kinds are refused as invalid by every endpoint. */
export function rejectsTokens(
  id: string,
  says: string,
  drafts: readonly TokenDraft[],
  { alsoRejects = () => [], ...more }: MoreOfRejection = {},
): RuleRow {
  const check = async (t: RuleContext) => {
    await refuseTokens(t, ...drafts);
    await refuseTokensAtSome(t, ...alsoRejects(t));
  };
  return { id, says, writes: 'where-allowed', ...more, check };
}

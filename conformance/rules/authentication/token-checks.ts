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
import { type RouteToken, refuseTokenEverywhere } from './every-route.js';
import type { PreparedRoute } from './prepared-routes.js';

/** Returns the id under which a key is registered at the target. Returns undefined if the id is unknown. */
export function idOf(t: RuleContext, role: KeyRole): string | undefined {
  return t.run.signer.key(role)?.id;
}

/**
 * Returns the recipe with a key's id as `kid` in its header. Returns undefined if the id is unknown. `role`: role of
 * the key. Default: the main key.
 */
export function withKid(t: RuleContext, recipe: TokenRecipe, role: KeyRole = 'main'): TokenRecipe | undefined {
  const kid = idOf(t, role);
  return kid === undefined ? undefined : { ...recipe, header: { ...recipe.header, kid } };
}

/** `kid` that no key of the target has. */
export const UNKNOWN_KID = { kid: 'nope' };

/**
 * Sends GET /api/v1/repo for the sample repository. The token has the scope `git:read`; `recipe` overrides its
 * properties.
 */
export async function readWithToken(t: RuleContext, recipe: TokenRecipe): Promise<ApiResponse> {
  const { name } = await sampleRepository(t);
  return getRepo(t, name, { as: { repo: name, scopes: ['git:read'], ...recipe } });
}

/** Returns a check that sends GET /api/v1/repo for the sample repository with a token of this recipe. */
export const tokenRead = (recipe: TokenRecipe) => (t: RuleContext) => readWithToken(t, recipe);

/**
 * Returns the allowlist of the restricted key: the scopes that its tokens may have. Skips the rule if the allowlist is
 * unknown.
 */
export function allowedScopes(t: RuleContext): readonly string[] {
  const { allowedScopes } = t.key('restricted');
  if (allowedScopes === undefined) throw new Skip('needs the allowlist of the restricted key: --restricted-scopes');
  return allowedScopes;
}

export const NONE_ALLOWED = 'needs a restricted key that may sign for an operation of the specification';

/**
 * Names of the endpoints (see `token-places.ts`) at which rules try tokens that must be accepted. Their requests only
 * read.
 */
export const READING = ['repo', 'list-repos', 'Git', 'Git push refs'];

/**
 * Returns the scopes that tokens of the restricted key may have. If the target file does not list them, finds out by
 * sending a token with each scope.
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
 * Returns a filter for places (endpoints to which a token can be sent). It keeps places whose scope the key may sign
 * for, so that the scope is not a reason to refuse a token.
 */
export async function placesOf(t: RuleContext, key: KeyRole = 'main'): Promise<(place: TokenPlace) => boolean> {
  t.key(key);
  if (key !== 'restricted') return () => true;
  const inside = await scopesInside(t);
  const leftOut = TOKEN_PLACES.filter(({ scope }) => !inside.includes(scope)).map(({ name }) => name);
  // Report the omitted places only if the suite cannot register keys. If it can, other rules try these places with
  // another key.
  if (leftOut.length > 0 && !(t.target.write && hasNamespaces(t.target)))
    t.observe('left out, as the restricted key has no scope for it', leftOut);
  return ({ scope }) => inside.includes(scope);
}

/** Expects status 200 for a token of this recipe at the read-only endpoints of the API and of Git. */
export async function acceptToken(t: RuleContext, recipe: TokenRecipe): Promise<void> {
  const isAllowed = await placesOf(t, recipe.key);
  const isTried = (place: TokenPlace) => READING.includes(place.name) && isAllowed(place);
  await forEachPlace(t, isTried, async ({ ask }) => void expectStatus(await ask(recipe), 200), NONE_ALLOWED);
}

/**
 * Expects every place (endpoint to which a token can be sent) to refuse these tokens as invalid. Places whose scope the
 * key may not sign for are omitted.
 */
export async function refuseTokens(t: RuleContext, ...drafts: readonly TokenDraft[]): Promise<void> {
  for (const draft of drafts) {
    const isAllowed = await placesOf(t, keyFor(t, draft));
    const visit = async ({ place, ask }: Visit) => expectTokenRefused(t, place, await ask(draft));
    await forEachPlace(t, isAllowed, visit, NONE_ALLOWED);
  }
}

/**
 * Names of a few endpoints (see `token-places.ts`): one for each scope of the API, and one of Git. A rule tries its
 * main kind of bad token at every endpoint, and other kinds only at these.
 */
const SOME = ['repo', 'pack', 'list-repos', 'Git'];

/**
 * Expects a few endpoints (`SOME`) to refuse these tokens as invalid. Endpoints whose scope the key may not sign for
 * are omitted. An undefined draft is ignored; rules use it for a token whose key the target lacks.
 */
export async function refuseTokensAtSome(t: RuleContext, ...drafts: readonly (TokenDraft | undefined)[]) {
  for (const draft of drafts) {
    if (draft === undefined) continue;
    const isAllowed = await placesOf(t, keyFor(t, draft));
    const isTried = (place: TokenPlace) => SOME.includes(place.name) && isAllowed(place);
    // Skip this draft if a restricted key may sign for none of these endpoints. The rule tries other tokens elsewhere.
    if (!TOKEN_PLACES.some((place) => isTried(place) && (t.target.write || !place.writes))) continue;
    await forEachPlace(t, isTried, async ({ place, ask }) => expectTokenRefused(t, place, await ask(draft)));
  }
}

/**
 * Returns a filter for routes. It keeps those whose scopes the key of these drafts may sign for, so that a scope is not
 * a reason to refuse a token.
 */
function routesOf(t: RuleContext, drafts: readonly TokenDraft[]): (route: Pick<PreparedRoute, 'operation'>) => boolean {
  const isRestricted = drafts.some((draft) => keyFor(t, draft) === 'restricted');
  return isRestricted ? routesInside(t) : () => true;
}

/** Returns a filter for routes. It keeps those whose scopes are all on the allowlist of the restricted key. */
export function routesInside(t: RuleContext): (route: Pick<PreparedRoute, 'operation'>) => boolean {
  const { allowedScopes = [] } = t.key('restricted');
  return ({ operation }) => operation.scopes.every((scope) => allowedScopes.includes(scope));
}

/** Returns the role of the key that signs the tokens of a draft. Undefined means the main key. */
function keyFor(t: RuleContext, draft: TokenDraft): KeyRole | undefined {
  const recipes = typeof draft === 'function' ? TOKEN_PLACES.map((place) => draft(place, t)) : [draft];
  return recipes.find(({ key }) => key !== undefined)?.key;
}

/** Optional settings of a rule about refused tokens. */
interface MoreOfRejection extends Partial<RuleRow> {
  /** Returns additional tokens that the rule tries only at a few endpoints (`refuseTokensAtSome`). */
  readonly alsoRejects?: (t: RuleContext) => readonly (TokenDraft | undefined)[];
  /** Token that the rule also tries at every other route that the suite knows (`refuseTokenEverywhere`). */
  readonly everywhere?: RouteToken;
  /** Checks more than the refusal of valid requests with these tokens. */
  readonly alsoChecks?: (t: RuleContext) => Promise<void>;
}

/** Defines a rule: the API and Git accept a token of this recipe. */
export function acceptsToken(id: string, says: string, recipe: TokenRecipe, more: Partial<RuleRow> = {}): RuleRow {
  return { id, says, ...more, check: (t) => acceptToken(t, recipe) };
}

/** Defines a rule: every endpoint refuses tokens of these kinds as invalid. */
export function rejectsTokens(
  id: string,
  says: string,
  drafts: readonly TokenDraft[],
  { alsoRejects = () => [], everywhere, alsoChecks, ...more }: MoreOfRejection = {},
): RuleRow {
  const check = async (t: RuleContext) => {
    await refuseTokens(t, ...drafts);
    await refuseTokensAtSome(t, ...alsoRejects(t));
    if (everywhere !== undefined) await refuseTokenEverywhere(t, everywhere, { wanted: routesOf(t, drafts) });
    await alsoChecks?.(t);
  };
  return { id, says, writes: 'where-allowed', ...more, check };
}

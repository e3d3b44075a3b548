import { commitFiles } from '../api/commit-pack.js';
import type { TokenRecipe } from '../auth/tokens.js';
import type { Answer } from '../check/answer.js';
import { expectTrue } from '../check/expect.js';
import { AssertionFailure, Skip } from '../check/outcomes.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { groupRepository, sampleRepository } from '../fixtures/repositories.js';
import { pushRefs } from '../git/push-request.js';
import { advertise, requestRefs, showsRefs } from '../git/refs.js';
import { basic, gitPath } from '../http/git-remote.js';
import { DOCUMENTED_OPERATIONS, type DocumentedOperation, type Scope } from './documented-operations.js';

/** One request that has to look at the token it comes with. */
export interface TokenPlace {
  /** Part of the names under which answers are recorded. */
  readonly name: string;
  /** What a failure calls it: method and path. */
  readonly route: string;
  /** The one scope it takes. */
  readonly scope: Scope;
  /** Tolerated answers to a token without that scope, the best supported first. */
  readonly lacksScope: readonly string[];
  readonly writes: boolean;
  readonly isGit: boolean;
  /** Whether the path names the repository; elsewhere only the token does. */
  readonly namesRepository: boolean;
  /** The repository that the request is right for. */
  readonly repo: (t: RuleContext) => Promise<string>;
  /** Sends the request, right in everything else, with this token. Without a recipe there is none. */
  readonly send: (t: RuleContext, repo: string, recipe?: TokenRecipe, options?: RequestOptions) => Promise<Answer>;
}

/** The repository of the group, not at its seed: restoring that would change something. */
async function movedRepository(t: RuleContext): Promise<string> {
  const { name } = await groupRepository(t);
  await commitFiles(t, name, { 'moved.txt': t.uniqueName() });
  return name;
}

function placeOf(operation: DocumentedOperation): TokenPlace {
  const { name, route, scope, lacksScope, writes, prepare } = operation;
  const repo = prepare === undefined ? operation.repo : movedRepository;
  return {
    name,
    route,
    scope,
    lacksScope,
    writes,
    isGit: false,
    namesRepository: route.includes('{repo_name}'),
    repo,
    send: (t, repo, recipe, options) => operation.send(t, repo, { as: recipe, ...options }),
  };
}

const ofSample = async (t: RuleContext) => (await sampleRepository(t)).name;
const GIT = { isGit: true, namesRepository: true, lacksScope: ['403', '401', '404'] } as const;
const REFS = '/{repo_name}.git/info/refs?service=';

const GIT_PLACES: readonly TokenPlace[] = [
  {
    ...GIT,
    name: 'Git',
    route: `GET ${REFS}git-upload-pack`,
    scope: 'git:read',
    writes: false,
    repo: ofSample,
    send: (t, repo, recipe, options) => advertise(t, gitPath(repo), recipe, 'git-upload-pack', options),
  },
  {
    ...GIT,
    name: 'Git fetch',
    route: 'POST /{repo_name}.git/git-upload-pack',
    scope: 'git:read',
    writes: false,
    repo: ofSample,
    send: requestRefs,
  },
  {
    ...GIT,
    name: 'Git push refs',
    route: `GET ${REFS}git-receive-pack`,
    scope: 'git:write',
    writes: false,
    repo: ofSample,
    send: (t, repo, recipe, options) => advertise(t, gitPath(repo), recipe, 'git-receive-pack', options),
  },
  {
    ...GIT,
    name: 'Git push',
    route: 'POST /{repo_name}.git/git-receive-pack',
    scope: 'git:write',
    writes: true,
    repo: async (t) => (await groupRepository(t)).name,
    send: async (t, repo, recipe, options) => {
      const { tip } = await groupRepository(t);
      return pushRefs(t, repo, { [`refs/heads/pushed-${t.uniqueName().replaceAll('/', '-')}`]: tip }, recipe, options);
    },
  },
];

/** Every place that the specification shows: reads, writes, streams, routes of the organization, and Git's. */
export const TOKEN_PLACES: readonly TokenPlace[] = [...DOCUMENTED_OPERATIONS.map(placeOf), ...GIT_PLACES];

/** A token as a rule describes it, for any place: `repo` and `scopes` are those of the place unless it says otherwise. */
export type TokenDraft = TokenRecipe | ((place: TokenPlace) => TokenRecipe);

/** A place while one rule goes through all of them. */
export interface Visit {
  readonly place: TokenPlace;
  readonly repo: string;
  /** Sends the request with such a token. */
  readonly ask: (draft: TokenDraft, options?: RequestOptions) => Promise<Answer>;
  /** Sends it without any, with a header written by hand. */
  readonly askWithout: (options?: RequestOptions) => Promise<Answer>;
  /** The `Authorization` header that carries a value where the place expects a token. */
  readonly headerWith: (value: string) => string;
}

/**
 * Goes through the places that can be tried: those that write only where the target may be written to. What is wrong is
 * said with the route in front. A place that lacks something is left out, and noted; where none is left the rule is
 * skipped. `without` says what places lack that are not wanted.
 */
export async function forEachPlace(
  t: RuleContext,
  wanted: (place: TokenPlace) => boolean,
  visit: (visit: Visit) => Promise<void>,
  without = 'no route of it can be tried',
): Promise<void> {
  const places = TOKEN_PLACES.filter(({ writes }) => t.target.write || !writes);
  const tried = places.filter(wanted);
  let reason = tried.length === 0 ? without : undefined;
  let visits = 0;
  for (const place of tried) {
    try {
      const repo = await place.repo(t);
      const complete = (draft: TokenDraft): TokenRecipe => ({
        repo,
        scopes: [place.scope],
        ...(typeof draft === 'function' ? draft(place) : draft),
      });
      await visit({
        place,
        repo,
        ask: (draft, options) => place.send(t, repo, complete(draft), options),
        askWithout: (options) => place.send(t, repo, undefined, options),
        headerWith: (value) => (place.isGit ? basic(value) : `Bearer ${value}`),
      });
      visits += 1;
    } catch (error) {
      if (error instanceof Skip) {
        reason ??= error.message;
        t.observe(`left out: ${place.route}`, error.message);
        continue;
      }
      throw error instanceof AssertionFailure
        ? new AssertionFailure(`${place.route}: ${error.what}`, error.expected, error.actual)
        : error;
    }
  }
  if (visits === 0 && reason !== undefined) throw new Skip(reason);
}

export const everyPlace = (): boolean => true;

/** Nothing of a repository is in the answer of a refusal, and nothing was pushed. */
export function showsNothing(answer: Answer): void {
  expectTrue(!showsRefs(answer), 'no ref is shown');
}

/** A token that is invalid is refused, in the way that the place may (A01, A35). */
export function expectTokenRefused(t: RuleContext, { name, isGit }: TokenPlace, answer: Answer): void {
  if (isGit) {
    showsNothing(answer);
    t.tolerate('A35', `invalid token, ${name}`, answer, ['403', '401', '404']);
  } else t.expectTokenRefused(answer, name);
}

/** A token that is good but lacks the scope is refused (A02, A26, A35). */
export function expectScopeMissing(t: RuleContext, { name, isGit, lacksScope }: TokenPlace, answer: Answer): void {
  if (isGit) {
    showsNothing(answer);
    t.tolerate('A35', name === 'Git' ? 'fetch without scope' : `${name}, without scope`, answer, lacksScope);
  } else if (name !== 'repo') t.tolerate('A02', `missing scope, ${name}`, answer, lacksScope);
}

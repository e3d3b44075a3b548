import type { TokenRecipe } from '../auth/tokens.js';
import type { ApiResponse } from '../check/api-response.js';
import { expectCode, expectStatus, expectTrue } from '../check/expect.js';
import { AssertionFailure, Skip } from '../check/outcomes.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { groupRepository, sampleRepository } from '../fixtures/repositories.js';
import { advertise, pushRefs, requestRefs, showsRefs } from '../git/refs.js';
import { basic, gitPath } from '../http/git-remote.js';
import { DOCUMENTED_OPERATIONS, type TokenPlace } from './documented-operations.js';

const GIT = {
  isGit: true,
  namesRepository: true,
  lacksScope: ['403', '401', '404'],
  withoutCode: [401, 403, 404],
} as const;
const READING = {
  ...GIT,
  scope: 'git:read',
  writes: false,
  repo: async (t: RuleContext) => (await sampleRepository(t)).name,
} as const;
const REFS = '/{repo_name}.git/info/refs?service=';

const GIT_PLACES: readonly TokenPlace[] = [
  {
    ...READING,
    name: 'Git',
    route: `GET ${REFS}git-upload-pack`,
    send: (t, repo, { as, ...options }) => advertise(t, gitPath(repo), as, 'git-upload-pack', options),
  },
  {
    ...READING,
    name: 'Git fetch',
    route: 'POST /{repo_name}.git/git-upload-pack',
    send: (t, repo, { as, ...options }) => requestRefs(t, repo, as, options),
  },
  {
    ...READING,
    name: 'Git push refs',
    route: `GET ${REFS}git-receive-pack`,
    scope: 'git:write',
    send: (t, repo, { as, ...options }) => advertise(t, gitPath(repo), as, 'git-receive-pack', options),
  },
  {
    ...GIT,
    name: 'Git push',
    route: 'POST /{repo_name}.git/git-receive-pack',
    scope: 'git:write',
    writes: true,
    repo: async (t) => (await groupRepository(t)).name,
    send: async (t, repo, { as, ...options }) => {
      const { tip } = await groupRepository(t);
      return pushRefs(t, repo, { [`refs/heads/pushed-${t.uniqueName().replaceAll('/', '-')}`]: tip }, as, options);
    },
  },
];

/** Every place in the specification that takes a token: reads, writes, streams, routes of the organization, and Git. */
export const TOKEN_PLACES: readonly TokenPlace[] = [...DOCUMENTED_OPERATIONS, ...GIT_PLACES];

/** Description of a token for any place. `repo` and `scopes` default to those of the place. */
export type TokenDraft = TokenRecipe | ((place: TokenPlace, t: RuleContext) => TokenRecipe);

/** One place, visited by a rule. */
export interface Visit {
  readonly place: TokenPlace;
  readonly repo: string;
  /** Sends the request with such a token. */
  readonly ask: (draft: TokenDraft, options?: RequestOptions) => Promise<ApiResponse>;
  /** Sends the request without a token, optionally with a hand-written header. */
  readonly askWithout: (options?: RequestOptions) => Promise<ApiResponse>;
  /** Returns the `Authorization` header with a value in the position of the token. */
  readonly headerWith: (value: string) => string;
}

/**
 * Visits the places that can be tried. Places that write are tried only on a writable target. Failures are reported
 * with
 * the route. A place that lacks something is recorded and skipped; if none is left, the rule is skipped. `without`
 * returns
 * what an unsuitable place lacks.
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
        ...(typeof draft === 'function' ? draft(place, t) : draft),
      });
      await visit({
        place,
        repo,
        ask: (draft, options) => place.send(t, repo, { as: complete(draft), ...options }),
        askWithout: (options) => place.send(t, repo, { as: undefined, ...options }),
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
export const ofGit = ({ isGit }: TokenPlace): boolean => isGit;
export const ofApi = ({ isGit }: TokenPlace): boolean => !isGit;
/** Selects API requests about the content of one repository. */
export const ofContent = ({ isGit, scope }: TokenPlace): boolean => !isGit && scope.startsWith('git:');
/** Selects reads of one repository whose requests are completely documented. */
export const ofReads = ({ isGit, scope, isLoose }: TokenPlace): boolean => !isGit && scope === 'git:read' && !isLoose;
export const ofScope = (wanted: string) => (place: TokenPlace) => place.scope === wanted;

/** Expects that a refusal contains no repository data, and that nothing was pushed. */
export function showsNothing(response: ApiResponse): void {
  expectTrue(!showsRefs(response), 'the response must not list refs');
}

/** Expects a Git request to be refused in one of these ways, without repository data (A35). */
export function expectGitRefused(t: RuleContext, where: string, response: ApiResponse, ways: readonly string[]): void {
  showsNothing(response);
  t.tolerate('A35', where, response, ways);
}

/** Expects an invalid token to be refused, in a way that the place allows (A01, A35). */
export function expectTokenRefused(t: RuleContext, { name, isGit }: TokenPlace, response: ApiResponse): void {
  if (isGit) expectGitRefused(t, `invalid token, ${name}`, response, ['403', '401', '404']);
  else t.expectTokenRefused(response, name);
}

/** Expects an error, with its code if the place documents one. */
export function expectErrorOf({ withoutCode }: TokenPlace, response: ApiResponse, status: number, code: string): void {
  if (withoutCode.includes(status)) expectStatus(response, status);
  else expectCode(response, status, code);
}

/** Expects a valid token without the scope to be refused (A02, A26, A35). */
export function expectScopeMissing(
  t: RuleContext,
  { name, isGit, lacksScope }: TokenPlace,
  response: ApiResponse,
): void {
  const where = name === 'Git' ? 'fetch without scope' : `${name}, without scope`;
  if (isGit) expectGitRefused(t, where, response, lacksScope);
  else if (name !== 'repo') t.tolerate('A02', `missing scope, ${name}`, response, lacksScope);
}

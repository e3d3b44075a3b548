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
      return pushRefs(t, repo, { [`refs/heads/${t.uniqueRef('pushed')}`]: tip }, as, options);
    },
  },
];

/**
 * All places (endpoints to which a token can be sent) of the specification: reads, writes, streams, routes of the
 * organization, and Git.
 */
export const TOKEN_PLACES: readonly TokenPlace[] = [...DOCUMENTED_OPERATIONS, ...GIT_PLACES];

/** Recipe for a token that is sent to several places. `repo` and `scopes` default to what each place requires. */
export type TokenDraft = TokenRecipe | ((place: TokenPlace, t: RuleContext) => TokenRecipe);

/** A place (endpoint to which a token can be sent), with functions that send requests to it. */
export interface Visit {
  readonly place: TokenPlace;
  readonly repo: string;
  /** Sends the place's valid request with a token of this recipe. */
  readonly ask: (draft: TokenDraft, options?: RequestOptions) => Promise<ApiResponse>;
  /** Sends the place's request without a token. The options may contain an `Authorization` header. */
  readonly askWithout: (options?: RequestOptions) => Promise<ApiResponse>;
  /** Returns an `Authorization` header in the form that the place expects. `value` stands in place of the token. */
  readonly headerWith: (value: string) => string;
}

/**
 * Calls `visit` for each wanted place (endpoint to which a token can be sent). Places that write are tried only if the
 * suite may write. A place that lacks something is recorded and skipped. If no place is left, the rule is skipped with
 * the reason `without`. The message of a failure names the route.
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
/** Filter for API endpoints about the content of one repository. */
export const ofContent = ({ isGit, scope }: TokenPlace): boolean => !isGit && scope.startsWith('git:');
/**
 * Filter for API endpoints that read from one repository. Their requests are completely documented by the
 * specification.
 */
export const ofReads = ({ isGit, scope, isLoose }: TokenPlace): boolean => !isGit && scope === 'git:read' && !isLoose;
export const ofScope = (wanted: string) => (place: TokenPlace) => place.scope === wanted;

/** Expects the response to a refused request to list no refs. */
export function showsNothing(response: ApiResponse): void {
  expectTrue(!showsRefs(response), 'the response must not list refs');
}

/**
 * Expects the Git host to refuse a request without showing refs. `ways` are the permitted responses; the specification
 * leaves the choice open (A35).
 */
export function expectGitRefused(t: RuleContext, where: string, response: ApiResponse, ways: readonly string[]): void {
  showsNothing(response);
  t.tolerate('A35', where, response, ways);
}

/**
 * Expects an endpoint to refuse an invalid token with one of the responses that the specification permits (A01, A35).
 */
export function expectTokenRefused(t: RuleContext, { name, isGit }: TokenPlace, response: ApiResponse): void {
  if (isGit) expectGitRefused(t, `invalid token, ${name}`, response, ['403', '401', '404']);
  else t.expectTokenRefused(response, name);
}

/**
 * Expects an error status with its error code. The code is not checked if the endpoint may omit or replace the code of
 * this status.
 */
export function expectErrorOf({ withoutCode }: TokenPlace, response: ApiResponse, status: number, code: string): void {
  if (withoutCode.includes(status)) expectStatus(response, status);
  else expectCode(response, status, code);
}

/**
 * Expects an endpoint to refuse a valid token that lacks the required scope. The specification permits several
 * responses (A02, A26, A35).
 */
export function expectScopeMissing(
  t: RuleContext,
  { name, isGit, lacksScope }: TokenPlace,
  response: ApiResponse,
): void {
  const where = name === 'Git' ? 'fetch without scope' : `${name}, without scope`;
  if (isGit) expectGitRefused(t, where, response, lacksScope);
  else if (name !== 'repo') t.tolerate('A02', `missing scope, ${name}`, response, lacksScope);
}

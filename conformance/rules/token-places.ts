import type { TokenRecipe } from '../auth/tokens.js';
import type { Answer } from '../check/answer.js';
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

/** Every place that the specification shows: reads, writes, streams, routes of the organization, and Git's. */
export const TOKEN_PLACES: readonly TokenPlace[] = [...DOCUMENTED_OPERATIONS, ...GIT_PLACES];

/** A token as a rule describes it, for any place: `repo` and `scopes` are those of the place unless it says otherwise. */
export type TokenDraft = TokenRecipe | ((place: TokenPlace, t: RuleContext) => TokenRecipe);

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
/** The requests of the API that are about one repository's content. */
export const ofContent = ({ isGit, scope }: TokenPlace): boolean => !isGit && scope.startsWith('git:');
/** The reads of one repository whose requests the specification shows whole. */
export const ofReads = ({ isGit, scope, isLoose }: TokenPlace): boolean => !isGit && scope === 'git:read' && !isLoose;
export const ofScope = (wanted: string) => (place: TokenPlace) => place.scope === wanted;

/** Nothing of a repository is in the answer of a refusal, and nothing was pushed. */
export function showsNothing(answer: Answer): void {
  expectTrue(!showsRefs(answer), 'no ref is shown');
}

/** A request of Git's is refused in one of these ways, and shows nothing (A35). */
export function expectGitRefused(t: RuleContext, where: string, answer: Answer, ways: readonly string[]): void {
  showsNothing(answer);
  t.tolerate('A35', where, answer, ways);
}

/** A token that is invalid is refused, in the way that the place may (A01, A35). */
export function expectTokenRefused(t: RuleContext, { name, isGit }: TokenPlace, answer: Answer): void {
  if (isGit) expectGitRefused(t, `invalid token, ${name}`, answer, ['403', '401', '404']);
  else t.expectTokenRefused(answer, name);
}

/** A place answers an error, with its code where it promises one. */
export function expectErrorOf({ withoutCode }: TokenPlace, answer: Answer, status: number, code: string): void {
  if (withoutCode.includes(status)) expectStatus(answer, status);
  else expectCode(answer, status, code);
}

/** A token that is good but lacks the scope is refused (A02, A26, A35). */
export function expectScopeMissing(t: RuleContext, { name, isGit, lacksScope }: TokenPlace, answer: Answer): void {
  const where = name === 'Git' ? 'fetch without scope' : `${name}, without scope`;
  if (isGit) expectGitRefused(t, where, answer, lacksScope);
  else if (name !== 'repo') t.tolerate('A02', `missing scope, ${name}`, answer, lacksScope);
}

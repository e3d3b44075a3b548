import type { TokenRecipe } from '../auth/tokens.js';
import type { ApiResponse } from '../check/api-response.js';
import { expectSha, expectStatus } from '../check/expect.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import type { JsonRecord } from '../http/exchange.js';

/**
 * This module has one function per API operation. The function sends the operation's request with a token that has only
 * the permissions that the operation needs.
 */

export function segment(name: string): string {
  return encodeURIComponent(name);
}

/**
 * Returns the base path of one repository's routes. A slash in the name is percent-encoded, because the name must be
 * one path segment.
 */
export function repositoryPath(repo: string): string {
  return `/api/repos/${segment(repo)}`;
}

export const reader = (repo: string): TokenRecipe => ({ repo, scopes: ['git:read'] });
export const writer = (repo: string): TokenRecipe => ({ repo, scopes: ['git:write'] });
export const repoWriter = (repo: string): TokenRecipe => ({ repo, scopes: ['repo:write'] });
/** Request option for an anonymous request: sends no token, so no `Authorization` header. */
export const ANONYMOUS = { as: undefined } as const;
export const ORG_READER: TokenRecipe = { scopes: ['org:read'] };

export const AUTHOR = { name: 'Ada Author', email: 'ada@example.com' } as const;
export const COMMITTER = { name: 'Carl Committer', email: 'carl@example.com' } as const;
export const ZEROS = '0'.repeat(40);
/** Well-formed SHA of an object that exists in no repository. */
export const ABSENT_SHA = '5ca1ab1e0ddba11c0ffee000facade0123456789';

/** Returns a SHA that differs from `sha` only in its last digit. */
export function withOtherEnd(sha: string): string {
  return sha.slice(0, -1) + (sha.endsWith('0') ? '1' : '0');
}

export const getRepo = (t: RuleContext, repo: string, options: RequestOptions = {}): Promise<ApiResponse> =>
  t.get('/api/v1/repo', { as: reader(repo), ...options });

export const listRepos = (
  t: RuleContext,
  query: Record<string, string> = {},
  options: RequestOptions = {},
): Promise<ApiResponse> => t.get('/api/repos', { as: ORG_READER, query, ...options });

export const createRepo = (t: RuleContext, repo: string, options: RequestOptions = {}): Promise<ApiResponse> =>
  t.post('/api/repos', { as: repoWriter(repo), ...options });

export const deleteRepo = (t: RuleContext, repo: string, options: RequestOptions = {}): Promise<ApiResponse> =>
  t.request('DELETE', repositoryPath(repo), { as: repoWriter(repo), ...options });

/**
 * Returns a function that sends a GET request to `path` and reads from one repository. The function takes the query
 * parameters as `query`.
 */
const queried =
  (path: string) =>
  (
    t: RuleContext,
    repo: string,
    query: Record<string, string> = {},
    options: RequestOptions = {},
  ): Promise<ApiResponse> =>
    t.get(path, { as: reader(repo), query, ...options });

/**
 * Returns a function that sends a POST request with a JSON body to `path`. `as` returns the token recipe for a
 * repository name.
 */
const posted =
  (path: string, as: (repo: string) => TokenRecipe) =>
  (t: RuleContext, repo: string, json: unknown = {}, options: RequestOptions = {}): Promise<ApiResponse> =>
    t.post(path, { as: as(repo), json, ...options });

/**
 * Returns a function that sends a restore request, which moves a branch back to the state of an older commit. The
 * NDJSON body is a single line with the metadata.
 */
const restoring =
  (pathOf: (repo: string) => string) =>
  (t: RuleContext, repo: string, metadata: unknown, options: RequestOptions = {}): Promise<ApiResponse> =>
    t.post(pathOf(repo), { as: writer(repo), lines: [{ metadata }], ...options });

export const grep = posted('/api/v1/repos/grep', reader);
export const archive = posted('/api/v1/repos/archive', reader);
export const writeNote = posted('/api/v1/repos/notes', writer);
export const fileMetadata = queried('/api/v1/repos/files/metadata');
export const listCommits = queried('/api/v1/repos/commits');
export const getFile = queried('/api/v1/repos/file');

export const getCommit = (
  t: RuleContext,
  repo: string,
  sha: string,
  options: RequestOptions = {},
): Promise<ApiResponse> => t.get('/api/v1/repos/commit', { as: reader(repo), query: { sha }, ...options });

export const listBranches = (t: RuleContext, repo: string, options: RequestOptions = {}): Promise<ApiResponse> =>
  t.get(`${repositoryPath(repo)}/branches`, { as: reader(repo), ...options });

export const RESTORE = '/api/v1/repos/restore-commit';

export const resetRoute = (repo: string): string => `${repositoryPath(repo)}/reset-commits`;

/**
 * Returns the metadata of a restore request that moves the default branch to the state of `commit`. `more` adds or
 * overrides members.
 */
export function restoreMetadata(t: RuleContext, commit: string, more: object = {}): JsonRecord {
  return { target_branch: t.defaultBranch, target_commit_sha: commit, author: AUTHOR, ...more };
}

export const restore = restoring(() => RESTORE);
/** Sends a restore request to the `reset-commits` route, which is the second route of the restore operation. */
export const reset = restoring(resetRoute);

/** Returns both names that a response can use for the default branch: the short name and the full ref. */
export const defaultBranchNames = ({ defaultBranch }: RuleContext): string[] => [
  defaultBranch,
  `refs/heads/${defaultBranch}`,
];

/**
 * Returns the branch name with `main` instead of the target's default branch: `refs/heads/trunk` becomes
 * `refs/heads/main`. This makes results of targets with different default branches comparable. Other names are returned
 * unchanged.
 */
export function asMain(t: RuleContext, name: string): string {
  const at = defaultBranchNames(t).indexOf(name);
  return ['main', 'refs/heads/main'][at] ?? name;
}

/**
 * Returns the SHA of the commit that a revision resolves to. Returns undefined if the revision does not exist (404).
 */
export async function tipOf(t: RuleContext, repo: string, revision = t.defaultBranch): Promise<string | undefined> {
  const response = await getCommit(t, repo, revision);
  if (response.status === 404) return undefined;
  expectStatus(response, 200);
  return response.string('commit', 'sha');
}

/** Returns the SHA of a branch tip. Fails the rule if the branch does not exist. */
export async function mustTipOf(t: RuleContext, repo: string, revision = t.defaultBranch): Promise<string> {
  const tip = await tipOf(t, repo, revision);
  expectSha(tip, `${revision} resolves`);
  return tip;
}

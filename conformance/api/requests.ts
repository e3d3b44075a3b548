import type { TokenRecipe } from '../auth/tokens.js';
import { expectSha, expectStatus } from '../check/expect.js';
import type { Ask, Trial } from '../check/rule-context.js';
import type { Answer } from '../http/exchange.js';

/** The operations of the specification as one line each, with the narrowest token that may call them. */

export function segment(name: string): string {
  return encodeURIComponent(name);
}

export const reader = (repo: string): TokenRecipe => ({ repo, scopes: ['git:read'] });
export const writer = (repo: string): TokenRecipe => ({ repo, scopes: ['git:write'] });
export const keeper = (repo: string): TokenRecipe => ({ repo, scopes: ['repo:write'] });
/** Sends no credential. */
export const NOBODY = { as: undefined } as const;
export const ORG_READER: TokenRecipe = { scopes: ['org:read'] };

export const AUTHOR = { name: 'Ada Author', email: 'ada@example.com' } as const;
export const COMMITTER = { name: 'Carl Committer', email: 'carl@example.com' } as const;
export const ZEROS = '0'.repeat(40);
/** A well-formed SHA that names nothing. */
export const ABSENT_SHA = '5ca1ab1e0ddba11c0ffee000facade0123456789';

export const getRepo = (t: Trial, repo: string, ask: Ask = {}): Promise<Answer> =>
  t.get('/api/v1/repo', { as: reader(repo), ...ask });

export const listRepos = (t: Trial, query: Record<string, string> = {}, ask: Ask = {}): Promise<Answer> =>
  t.get('/api/repos', { as: ORG_READER, query, ...ask });

export const createRepo = (t: Trial, repo: string, ask: Ask = {}): Promise<Answer> =>
  t.post('/api/repos', { as: keeper(repo), ...ask });

export const deleteRepo = (t: Trial, repo: string, ask: Ask = {}): Promise<Answer> =>
  t.request('DELETE', `/api/repos/${segment(repo)}`, { as: keeper(repo), ...ask });

export const grep = (t: Trial, repo: string, json: unknown, ask: Ask = {}): Promise<Answer> =>
  t.post('/api/v1/repos/grep', { as: reader(repo), json, ...ask });

export const fileMetadata = (t: Trial, repo: string, query: Record<string, string> = {}, ask: Ask = {}) =>
  t.get('/api/v1/repos/files/metadata', { as: reader(repo), query, ...ask });

export const getCommit = (t: Trial, repo: string, sha: string, ask: Ask = {}): Promise<Answer> =>
  t.get('/api/v1/repos/commit', { as: reader(repo), query: { sha }, ...ask });

export const listCommits = (t: Trial, repo: string, query: Record<string, string> = {}, ask: Ask = {}) =>
  t.get('/api/v1/repos/commits', { as: reader(repo), query, ...ask });

export const getFile = (t: Trial, repo: string, query: Record<string, string>, ask: Ask = {}): Promise<Answer> =>
  t.get('/api/v1/repos/file', { as: reader(repo), query, ...ask });

export const archive = (t: Trial, repo: string, json: unknown = {}, ask: Ask = {}): Promise<Answer> =>
  t.post('/api/v1/repos/archive', { as: reader(repo), json, ...ask });

export const writeNote = (t: Trial, repo: string, json: unknown, ask: Ask = {}): Promise<Answer> =>
  t.post('/api/v1/repos/notes', { as: writer(repo), json, ...ask });

export const listBranches = (t: Trial, repo: string, ask: Ask = {}): Promise<Answer> =>
  t.get(`/api/repos/${segment(repo)}/branches`, { as: reader(repo), ...ask });

export const RESTORE = '/api/v1/repos/restore-commit';

export const resetRoute = (repo: string): string => `/api/repos/${segment(repo)}/reset-commits`;

export const restore = (t: Trial, repo: string, metadata: unknown, ask: Ask = {}): Promise<Answer> =>
  t.post(RESTORE, { as: writer(repo), lines: [{ metadata }], ...ask });

/** Content of a file, or null to delete it. */
export type FileContent = string | Buffer | null | { readonly content: string | Buffer; readonly mode: string };

/** The lines of a commit-pack body: metadata, then one chunk for each file. */
export function packLines(files: Readonly<Record<string, FileContent>>, metadata: object = {}): unknown[] {
  const entries = Object.entries(files);
  const operations = entries.map(([path, content], index) => ({
    path,
    content_id: `c${index}`,
    operation: content === null ? 'delete' : 'upsert',
    ...(isWithMode(content) ? { mode: content.mode } : {}),
  }));
  const chunks = entries.flatMap(([, content], index) =>
    content === null ? [] : [chunk(`c${index}`, bytesOf(content))],
  );
  const base = { target_branch: 'main', commit_message: 'Change files', author: AUTHOR, files: operations };
  return [{ metadata: { ...base, ...metadata } }, ...chunks];
}

export function chunk(contentId: string, data: string | Buffer, eof = true): object {
  return { blob_chunk: { content_id: contentId, data: Buffer.from(data as string).toString('base64'), eof } };
}

export const COMMIT_PACK = '/api/v1/repos/commit-pack';

export const sendPack = (t: Trial, repo: string, lines: readonly unknown[], ask: Ask = {}): Promise<Answer> =>
  t.post(COMMIT_PACK, { as: writer(repo), lines, ...ask });

/** Writes files by commit-pack and expects that to work. */
export async function commitFiles(
  t: Trial,
  repo: string,
  files: Readonly<Record<string, FileContent>>,
  metadata: object = {},
): Promise<Written> {
  const answer = await sendPack(t, repo, packLines(files, metadata));
  expectStatus(answer, 201);
  const sha = answer.string('commit', 'commit_sha');
  expectSha(sha, 'commit.commit_sha is a SHA');
  return { sha, tree: answer.string('commit', 'tree_sha'), before: answer.string('result', 'old_sha'), answer };
}

export interface Written {
  readonly sha: string;
  readonly tree: string;
  /** The tip before. */
  readonly before: string;
  readonly answer: Answer;
}

/** The commit a revision names, undefined when there is none. */
export async function tipOf(t: Trial, repo: string, revision = 'main'): Promise<string | undefined> {
  const answer = await getCommit(t, repo, revision);
  if (answer.status === 404) return undefined;
  expectStatus(answer, 200);
  return answer.string('commit', 'sha');
}

/** The tip of a branch that has to be there. */
export async function mustTipOf(t: Trial, repo: string, revision = 'main'): Promise<string> {
  const tip = await tipOf(t, repo, revision);
  expectSha(tip, `${revision} resolves`);
  return tip;
}

function bytesOf(content: Exclude<FileContent, null>): string | Buffer {
  return typeof content === 'string' || Buffer.isBuffer(content) ? content : content.content;
}

function isWithMode(content: FileContent): content is { content: string | Buffer; mode: string } {
  return content !== null && typeof content === 'object' && !Buffer.isBuffer(content);
}

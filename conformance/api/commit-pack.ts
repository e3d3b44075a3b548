import type { ApiResponse } from '../check/api-response.js';
import { expectSha, expectSuccess } from '../check/expect.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { AUTHOR, writer } from './requests.js';

/** New content of one file in a commit. The object form also sets the Git mode; null deletes the file. */
export type FileContent = string | Buffer | null | { readonly content: string | Buffer; readonly mode: string };

/**
 * Builds the NDJSON lines of a commit-pack request, which creates a commit. The first line is the metadata; one line
 * per file with its content follows. The commit goes to the default branch unless `metadata` names another branch.
 */
export function packLines(
  t: Pick<RuleContext, 'defaultBranch'>,
  files: Readonly<Record<string, FileContent>>,
  metadata: object = {},
): unknown[] {
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
  const base = { target_branch: t.defaultBranch, commit_message: 'Change files', author: AUTHOR, files: operations };
  return [{ metadata: { ...base, ...metadata } }, ...chunks];
}

export function chunk(contentId: string, data: string | Buffer, eof = true): object {
  return { blob_chunk: { content_id: contentId, data: Buffer.from(data as string).toString('base64'), eof } };
}

export const COMMIT_PACK = '/api/v1/repos/commit-pack';

export const sendPack = (
  t: RuleContext,
  repo: string,
  lines: readonly unknown[],
  options: RequestOptions = {},
): Promise<ApiResponse> => t.post(COMMIT_PACK, { as: writer(repo), lines, ...options });

/**
 * Creates a commit with these files through the commit-pack operation of the API. Fails the rule unless the request
 * succeeds. The content null deletes a file.
 */
export async function commitFiles(
  t: RuleContext,
  repo: string,
  files: Readonly<Record<string, FileContent>>,
  metadata: object = {},
) {
  const response = expectSuccess(await sendPack(t, repo, packLines(t, files, metadata), { mustSucceed: true }));
  const sha = response.string('commit', 'commit_sha');
  expectSha(sha, 'commit.commit_sha is a SHA');
  // `before`: SHA of the branch tip before this commit.
  return {
    sha,
    tree: response.string('commit', 'tree_sha'),
    before: response.string('result', 'old_sha'),
    response,
  };
}

function bytesOf(content: Exclude<FileContent, null>): string | Buffer {
  return typeof content === 'string' || Buffer.isBuffer(content) ? content : content.content;
}

function isWithMode(content: FileContent): content is { content: string | Buffer; mode: string } {
  return content !== null && typeof content === 'object' && !Buffer.isBuffer(content);
}

import { commitFiles } from '../../api/commit-pack.js';
import { AUTHOR, mustTipOf, restore, restoreMetadata, writeNote } from '../../api/requests.js';
import { expectStatus, expectSuccess, isCount, isSha } from '../../check/expect.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { type Exchange, isRecord, type JsonRecord, jsonOf } from '../../http/exchange.js';
import { parseJson } from '../../target/json.js';
import { defineWritingRules, on } from '../rule.js';

/** Returns true for a text that is absent or empty. After a success, the text must not be filled. */
const isEmptyText = (value: unknown): boolean => value === undefined || value === '';

/** Returns a branch name without `refs/heads/`. */
const shortName = (value: unknown): string => String(value).replace(/^refs\/heads\//, '');

/** Returns the JSON object in the first line of a request body. Returns undefined if the line is not a JSON object. */
function firstLine({ requestBody }: Exchange): JsonRecord | undefined {
  if (requestBody === undefined) return undefined;
  const end = requestBody.indexOf('\n');
  const line = parseJson(requestBody.toString('utf8', 0, end < 0 ? requestBody.length : end));
  return isRecord(line) ? line : undefined;
}

const isAccepted = ({ git, method, status }: Exchange): boolean =>
  !git && method === 'POST' && status >= 200 && status <= 299;

/**
 * Returns `true` if every member of a response body is right. Otherwise returns a sentence about the first wrong
 * member.
 */
function judge(path: string, checks: Readonly<Record<string, readonly [value: unknown, isRight: boolean]>>) {
  const wrong = Object.entries(checks).find(([, [, isRight]]) => !isRight);
  return wrong === undefined || `${path}: ${wrong[0]} is ${JSON.stringify(wrong[1][0]) ?? 'absent'}`;
}

/**
 * Judges the write result in an accepted response of commit-pack or restore. Only other rules judge a result with
 * `success` false, because it reports what happened to a ref.
 */
function judgeWrite(exchange: Exchange): string | true | undefined {
  const path = exchange.path.split('?', 1)[0] ?? '';
  if (!isAccepted(exchange) || !/\/(commit-pack|restore-commit|reset-commits)$/.test(path)) return undefined;
  const body = jsonOf(exchange);
  if (!isRecord(body) || !isRecord(body.result)) return `${path} answers ${exchange.status} without result`;
  const { commit, result } = body;
  if (result.success === false) return undefined;
  if (!isRecord(commit)) return `${path} answers ${exchange.status} without commit`;
  const metadata = firstLine(exchange)?.metadata;
  const branch = isRecord(metadata) ? metadata.target_branch : undefined;
  const isBranch = (value: unknown) =>
    typeof value === 'string' && value !== '' && (branch === undefined || shortName(value) === shortName(branch));
  return judge(path, {
    'commit.commit_sha': [commit.commit_sha, isSha(commit.commit_sha)],
    'commit.tree_sha': [commit.tree_sha, isSha(commit.tree_sha)],
    'commit.target_branch': [commit.target_branch, isBranch(commit.target_branch)],
    'commit.pack_bytes': [commit.pack_bytes, isCount(commit.pack_bytes)],
    'commit.blob_count': [commit.blob_count, !path.endsWith('/commit-pack') || isCount(commit.blob_count)],
    'result.branch': [result.branch, isBranch(result.branch)],
    'result.new_sha': [result.new_sha, result.new_sha === commit.commit_sha],
    'result.success': [result.success, result.success === true],
    'result.status': [result.status, result.status === 'ok'],
    'result.message': [result.message, isEmptyText(result.message)],
  });
}

/** Judges the note write result in an accepted response of the notes endpoint. */
function judgeNote(exchange: Exchange): string | true | undefined {
  const path = exchange.path.split('?', 1)[0] ?? '';
  if (!isAccepted(exchange) || !path.endsWith('/notes')) return undefined;
  const body = jsonOf(exchange);
  if (!isRecord(body) || !isRecord(body.result)) return `${path} answers ${exchange.status} without result`;
  const { sha, target_ref, base_commit, new_ref_sha, result } = body;
  if (result.success === false) return undefined;
  const asked = firstLine(exchange) ?? {};
  // Published clients may use another notes ref. They may also name the commit by an abbreviated SHA or a branch.
  const isOtherRef = Object.keys(asked).some((name) => name.includes('ref') && !name.startsWith('expected_'));
  return judge(path, {
    sha: [sha, isSha(sha) && (!isSha(asked.sha) || sha === asked.sha)],
    target_ref: [target_ref, isOtherRef || target_ref === 'refs/notes/commits'],
    base_commit: [base_commit, isSha(base_commit) || (base_commit ?? '') === ''],
    new_ref_sha: [new_ref_sha, isSha(new_ref_sha) && new_ref_sha !== base_commit],
    'result.success': [result.success, result.success === true],
    'result.status': [result.status, result.status === 'ok'],
    'result.message': [result.message, result.message === undefined || typeof result.message === 'string'],
  });
}

export const everyWrite = defineWritingRules('Write result', 'every-write', [
  {
    id: 'write.every',
    says: 'Every accepted commit-pack and restore answers with the complete write result.',
    clauses: {
      commit: 'commit.commit_sha is a full SHA.',
      tree: 'commit.tree_sha is a full SHA.',
      'target-branch': 'commit.target_branch is the branch in the request, also if it is ephemeral.',
      'pack-bytes': 'commit.pack_bytes is an integer, also if the request only deletes a file.',
      'blob-count': 'commit.blob_count is an integer in every response of commit-pack.',
      branch: 'result.branch is the branch in the request, also if it is ephemeral.',
      'new-sha': 'result.new_sha is the commit in commit.commit_sha.',
      success: 'result.success is a boolean.',
      status: 'result.status is ok, also if the branch is ephemeral.',
      message: 'result.message is empty, also if the request restores another branch than the default branch.',
      'restored-branch': 'commit.target_branch of a restore is the restored branch.',
    },
    watch: judgeWrite,
    check: on(groupRepository, async (t, { name }) => {
      const seed = await mustTipOf(t, name);
      await commitFiles(t, name, { 'kept.txt': t.uniqueName(), 'gone.txt': 'x' });
      await commitFiles(t, name, { 'gone.txt': null });
      const target_branch = t.uniqueRef('every');
      const files = { 'every.txt': t.uniqueName() };
      for (const ephemeral of [false, true])
        await commitFiles(t, name, files, { target_branch, base_branch: t.defaultBranch, ephemeral });
      expectStatus(await restore(t, name, restoreMetadata(t, seed, { target_branch })), 201);
    }),
  },
]);

export const everyNote = defineWritingRules('Note write result', 'every-note', [
  {
    id: 'note.every',
    says: 'Every written note is answered with the complete note write result.',
    clauses: {
      sha: 'sha is the commit in the request, also if the request names an author.',
      'target-ref': 'target_ref is refs/notes/commits, also if the request names an author.',
      'base-commit': 'base_commit is a full SHA, also if the request has expected_ref_sha.',
      'new-ref-sha':
        'new_ref_sha is a full SHA and differs from base_commit, also if the request has expected_ref_sha.',
      success: 'result.success is true, also if the request has expected_ref_sha.',
      status: 'result.status is ok, also if the request names an author.',
      message: 'result.message is a string, if it is present.',
    },
    watch: judgeNote,
    check: on(groupRepository, async (t, { name }) => {
      const { sha: older } = await commitFiles(t, name, { 'noted.txt': t.uniqueName() });
      const { sha } = await commitFiles(t, name, { 'noted.txt': t.uniqueName() });
      const first = expectSuccess(await writeNote(t, name, { sha: older, note: 'by an author', author: AUTHOR }));
      const expected_ref_sha = first.string('new_ref_sha');
      expectSuccess(await writeNote(t, name, { sha, note: 'expected', expected_ref_sha }));
      expectSuccess(await writeNote(t, name, { sha, action: 'append', note: 'more', author: AUTHOR }));
    }),
  },
]);

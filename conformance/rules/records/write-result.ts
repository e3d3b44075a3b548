import { commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { ABSENT_SHA, asMain, mustTipOf, restore, restoreMetadata, tipOf, ZEROS } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectOneOf, expectSame, expectSha, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createNamedRepository, groupRepository } from '../../fixtures/repositories.js';
import { clone } from '../../git/git-client.js';
import { type Exchange, isRecord, type JsonRecord, jsonOf } from '../../http/exchange.js';
import { defineWritingRules, leftOpen, on, rulesBy } from '../rule.js';

/** Commits two files to the group's shared repository. Returns the response, and the branch tip before the commit. */
async function write(t: RuleContext, metadata: object = {}) {
  const { name } = await groupRepository(t);
  const before = await mustTipOf(t, name);
  const unique = t.uniqueName();
  const written = await commitFiles(t, name, { 'one.txt': `1 ${unique}`, 'two.txt': `2 ${unique}` }, metadata);
  return { ...written, name, tip: before };
}

/** File names that Git sorts before and after the folder `a`: `-` and `.` sort before `/`, `0` sorts after it. */
const CLOSE_NAMES = Object.fromEntries(['a/x', 'a-b', 'a.b', 'a0', 'B', 'é', 'z'].map((path) => [path, path]));

/** Creates a branch with one commit, then adds another commit to it. Returns both writes and the branch name. */
async function writeTwice(t: RuleContext) {
  const branch = t.uniqueName();
  const first = await write(t, { target_branch: branch, base_branch: t.defaultBranch });
  const second = await write(t, { target_branch: branch });
  return { name: second.name, branch, first, second };
}

/**
 * Creates a commit on the default branch and a commit on a new branch. Expects `result.<member>` of both responses to
 * have this value.
 */
async function shows(t: RuleContext, member: string, value: unknown): Promise<void> {
  await onTwoBranches(t, (response) => expectSame(response.find('result', member), value, `result.${member}`));
}

/** Clauses of a rule that is checked with `onTwoBranches`. */
const ON_TWO_BRANCHES = { 'new-branch': 'A commit that creates a branch has the same result.' };

/**
 * Creates a commit on the default branch and a commit on a new branch. Calls `check` with each response and the name of
 * its branch.
 */
async function onTwoBranches(t: RuleContext, check: (response: ApiResponse, branch: string) => void): Promise<void> {
  check((await write(t)).response, t.defaultBranch);
  const branch = t.uniqueName();
  check((await write(t, { target_branch: branch, base_branch: t.defaultBranch })).response, branch);
}

/**
 * Returns the response body of a request that wrote a commit, and its member `result`. Returns undefined for other
 * exchanges.
 */
function resultOf(exchange: Exchange): { body: JsonRecord; result: JsonRecord } | undefined {
  if (!/\/(commit-pack|restore-commit|reset-commits)$/.test(exchange.path)) return undefined;
  const body = jsonOf(exchange);
  return isRecord(body) && isRecord(body.result) ? { body, result: body.result } : undefined;
}

export const writeCommit = defineWritingRules('Write result', 'write-commit', [
  {
    id: 'write.commit.commit_sha',
    says: 'commit.commit_sha is the new commit, which is now the tip of the branch.',
    check: on(write, async (t, { name, sha }) => {
      expectSame(await tipOf(t, name, sha), sha, 'the written commit must be readable');
      expectSame(await tipOf(t, name), sha, 'the branch must point to the written commit');
    }),
  },
  {
    id: 'write.commit.tree_sha',
    says: 'commit.tree_sha is the tree of the new commit.',
    clauses: {
      order:
        'tree_sha is the SHA of the tree that Git writes for these files: folders are sorted as if their names ended with a slash.',
    },
    check: on(write, async (t, { name, sha, tree }) => {
      const { git } = await clone(t, name);
      expectSame((await git.commit(sha)).tree, tree, 'tree_sha must be the tree of the commit that Git reads');
      const empty = t.uniqueName();
      await createNamedRepository(t, empty);
      const made = await commitFiles(t, empty, CLOSE_NAMES);
      expectSame(made.tree, await git.writeTree(CLOSE_NAMES), 'tree_sha must be the tree that Git makes of the files');
    }),
  },
  {
    id: 'write.commit.target_branch',
    says: 'commit.target_branch is the branch that was written.',
    check: (t) =>
      onTwoBranches(t, (response, branch) =>
        expectSame(response.string('commit', 'target_branch'), branch, 'target_branch'),
      ),
  },
  {
    id: 'write.commit.pack_bytes',
    says: 'commit.pack_bytes is an integer of at least 0.',
    check: async (t) =>
      expectTrue((await write(t)).response.integer('commit', 'pack_bytes') >= 0, 'pack_bytes must not be negative'),
  },
  {
    id: 'write.commit.blob_count.type',
    says: 'commit.blob_count is an integer in responses of commit-pack.',
    clauses: { 'no-blobs': 'commit.blob_count is present also if the request only deletes a file.' },
    check: async (t) => {
      const { name, response } = await write(t);
      const count = response.integer('commit', 'blob_count');
      const deleted = (await commitFiles(t, name, { 'two.txt': null })).response.integer('commit', 'blob_count');
      expectTrue(deleted >= 0, 'blob_count of a deletion must not be negative', deleted);
      expectTrue(count >= 0, 'blob_count must not be negative', count);
      t.observe('blob_count of two files', count);
    },
  },
  leftOpen(
    'write.commit.blob_count.restore',
    'The specification does not say whether the response of a restore has blob_count.',
    write,
    async (t, { name, tip }) => {
      const response = expectStatus(await restore(t, name, restoreMetadata(t, tip)), 201);
      t.observe('blob_count', response.find('commit', 'blob_count') ?? 'absent');
    },
  ),
]);

export const writeResult = defineWritingRules('Write result', 'write-result', [
  {
    id: 'write.result.branch',
    says: 'result.branch is the name of the branch.',
    check: (t) =>
      onTwoBranches(t, (response, name) => {
        const branch = response.string('result', 'branch');
        expectOneOf(branch, [name, `refs/heads/${name}`], 'result.branch must name the branch');
        if (name === t.defaultBranch)
          t.tolerateValue('A38', 'result.branch', asMain(t, branch), ['main', 'refs/heads/main']);
      }),
  },
  {
    id: 'write.result.old_sha.hex40',
    says: 'result.old_sha is 40 hexadecimal digits, unless commit is null because nothing had to change.',
    watch: (exchange) => {
      const seen = resultOf(exchange);
      if (seen === undefined) return undefined;
      const { body, result } = seen;
      if (/^[0-9a-f]{40}$/.test(String(result.old_sha))) return true;
      const isEmpty = (result.old_sha ?? '') === '';
      const isNothingDone = (body.commit ?? null) === null && result.status === 'precondition_failed';
      return (isEmpty && isNothingDone) || `old_sha is ${JSON.stringify(result.old_sha)}`;
    },
    check: async (t) => expectSha((await write(t)).response.find('result', 'old_sha'), 'old_sha must be a full SHA'),
  },
  {
    id: 'write.result.old_sha.previous-tip',
    says: 'result.old_sha is the tip of the branch before the write.',
    clauses: { 'other-branch': 'On a branch other than the default branch, it is the tip of this branch.' },
    check: on(write, async (t, { before, tip }) => {
      expectSame(before, tip, 'old_sha must be the tip before the write');
      const { first, second } = await writeTwice(t);
      expectSame(second.before, first.sha, 'old_sha must be the tip of the written branch');
    }),
  },
  {
    id: 'write.result.old_sha.zeros',
    says: 'result.old_sha is 40 zeros if the branch did not exist, also in an empty repository.',
    clauses: {
      base: 'old_sha is not the tip of the base branch.',
      ephemeral: 'For a new ephemeral branch, old_sha is not the tip of the ordinary branch with the same name.',
      'empty-repository': 'For the first commit of a repository, old_sha is 40 zeros.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const from = { target_branch: t.uniqueName(), base_branch: t.defaultBranch };
      for (const ephemeral of [false, true]) {
        const branch = await commitFiles(t, name, { 'z.txt': 'z' }, { ...from, ephemeral });
        expectSame(branch.before, ZEROS, 'old_sha of a new branch must be 40 zeros');
      }
      const empty = t.uniqueName();
      await createNamedRepository(t, empty);
      expectSame(
        (await commitFiles(t, empty, { 'z.txt': 'z' })).before,
        ZEROS,
        'old_sha of a first commit must be 40 zeros',
      );
      const metadata = { target_branch: t.uniqueName(), base_branch: t.defaultBranch, expected_head_sha: ABSENT_SHA };
      const refused = await sendPack(t, name, packLines(t, { 'z.txt': 'z' }, metadata));
      expectOneOf(
        refused.find('result', 'old_sha') ?? '',
        [ZEROS, ''],
        'old_sha of a branch that was not created must be 40 zeros',
      );
    }),
  },
  {
    id: 'write.result.new_sha',
    says: 'result.new_sha is the new commit, which is the tip of the branch after the write.',
    clauses: { 'other-branch': 'On a branch other than the default branch, it is the tip of this branch.' },
    check: on(write, async (t, { name, sha, response }) => {
      expectSame(response.string('result', 'new_sha'), sha, 'new_sha must be the written commit');
      expectSame(await tipOf(t, name), sha, 'new_sha must be the tip of the branch');
      const { branch, second } = await writeTwice(t);
      const tip = await tipOf(t, name, branch);
      expectSame(tip, second.sha, 'the branch must point to the written commit');
      expectSame(second.response.find('result', 'new_sha'), tip, 'new_sha must be the tip of the written branch');
    }),
  },
  ...rulesBy(
    shows,
    [
      ['write.result.success.bool', 'result.success is true after a successful write.', 'success', true],
      ['write.result.status.ok', 'result.status is ok after a successful write.', 'status', 'ok'],
    ],
    { clauses: ON_TWO_BRANCHES },
  ),
  {
    id: 'write.result.status.values',
    says: 'result.status is ok or precondition_failed.',
    level: 'SHOULD',
    watch: (exchange) => {
      const status = resultOf(exchange)?.result.status;
      if (status === undefined) return undefined;
      return status === 'ok' || status === 'precondition_failed' || `a new value: ${JSON.stringify(status)}`;
    },
  },
  {
    id: 'write.result.message.empty-on-success',
    says: 'result.message is an empty string after a successful write.',
    clauses: ON_TWO_BRANCHES,
    check: (t) =>
      onTwoBranches(t, (response) => {
        const message = response.find('result', 'message');
        expectTrue(message === '' || message === undefined, 'message must be empty', message);
        if (message === undefined) t.observe('message', 'absent');
      }),
  },
]);

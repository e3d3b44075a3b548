import { commitFiles } from '../../api/commit-pack.js';
import {
  ABSENT_SHA,
  AUTHOR,
  COMMITTER,
  defaultBranchNames,
  getCommit,
  listCommits,
  mustTipOf,
  restore,
  restoreMetadata,
  tipOf,
  ZEROS,
} from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectOneOf, expectRefused, expectSame, expectSha, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { newRepository } from '../../fixtures/repositories.js';
import { clone } from '../../git/git-client.js';
import { expectKept, expectPerson, MESSAGE_CLAUSES, MESSAGES } from '../kept-text.js';
import { defineWritingRules, on } from '../rule.js';
import { moved, restored } from './moved.js';

async function restoredCommit(t: RuleContext, more: object = {}): Promise<ApiResponse> {
  const { name, response } = await restored(t, more);
  return getCommit(t, name, response.string('commit', 'commit_sha'));
}

/**
 * Adds one commit to the default branch and one to a new branch. Returns the name of the new branch, both tips, and the
 * first commit of the repository.
 */
async function twoBranches(t: RuleContext) {
  const { name, seed, last } = await moved(t);
  const side = t.uniqueRef('side');
  const from = { target_branch: side, base_branch: t.defaultBranch };
  const { sha: sideTip } = await commitFiles(t, name, { 'side.txt': t.uniqueName() }, from);
  return { name, seed, last, side, sideTip };
}

/** Files of the commit to restore. Later commits change, delete or add each of them. */
const BEFORE = {
  'changed.txt': 'before',
  'deleted.txt': 'before',
  'folder/deleted.txt': 'before',
  'mode.sh': { content: 'same', mode: '100755' },
} as const;
const AFTER = {
  'changed.txt': 'after',
  'deleted.txt': null,
  'folder/deleted.txt': null,
  'folder/added.txt': 'after',
  'added.txt': 'after',
  'mode.sh': { content: 'same', mode: '100644' },
} as const;

export const restoreEffect = defineWritingRules('2. Restore', 'restore-effect', [
  {
    id: 'restore.effect.new-commit',
    says: 'A restore adds a new commit.',
    clauses: {
      'named-branch': 'The commit is added to the branch that target_branch names, and to no other branch.',
      resolved: 'The name of the branch then selects the new commit, also if it was read before.',
    },
    check: on(twoBranches, async (t, { name, seed, last, side, sideTip }) => {
      expectSame((await getCommit(t, name, side)).find('commit', 'sha'), sideTip, 'the branch must have its old tip');
      const response = expectStatus(await restore(t, name, restoreMetadata(t, seed, { target_branch: side })), 201);
      const sha = response.string('commit', 'commit_sha');
      expectTrue(![seed, last.sha, sideTip].includes(sha), 'the commit must be new', sha);
      expectSame(await mustTipOf(t, name, side), sha, 'the named branch must point to the new commit');
      expectSame((await getCommit(t, name, side)).find('commit', 'sha'), sha, 'the branch must have its new tip');
      expectSame(await mustTipOf(t, name), last.sha, 'the default branch must not move');
      expectSame(response.find('result', 'old_sha'), sideTip, 'old_sha must be the old tip of the named branch');
      expectSame(response.find('commit', 'target_branch'), side, 'target_branch must be the named branch');
      expectOneOf(response.find('result', 'branch'), [side, `refs/heads/${side}`], 'result.branch');
    }),
  },
  {
    id: 'restore.effect.tree',
    says: 'The new commit has the tree of the target commit.',
    clauses: {
      changed: 'A file that was changed since has its earlier content.',
      deleted: 'A file that was deleted since exists.',
      added: 'A file that was added since is deleted.',
      mode: 'A file whose mode was changed since has its earlier mode.',
      'named-commit': 'The tree is that of the named commit, not of the parent of the tip.',
      'not-parent': 'The tree is that of the named commit, not of its parent.',
    },
    check: async (t) => {
      const { name, tip: target } = await newRepository(t, BEFORE);
      const after = await commitFiles(t, name, AFTER);
      await commitFiles(t, name, { 'later.txt': 'later' });
      const response = expectStatus(await restore(t, name, restoreMetadata(t, target)), 201);
      const { git, tip } = await clone(t, name);
      expectSame(await git.listTree(tip), await git.listTree(target), 'the files must be those of the target');
      const { tree } = await git.commit(target);
      expectSame((await git.commit(tip)).tree, tree, 'the tree of the new commit must be the tree of the target');
      expectSame(response.string('commit', 'tree_sha'), tree, 'tree_sha must be the tree of the target');
      const again = expectStatus(await restore(t, name, restoreMetadata(t, after.sha)), 201);
      expectSame(again.string('commit', 'tree_sha'), after.tree, 'tree_sha must be the tree of a target with a parent');
    },
  },
  {
    id: 'restore.effect.history-kept',
    says: 'The earlier commits of the branch stay in its history.',
    clauses: { 'commit-list': 'The list of commits contains the earlier commits.' },
    check: on(restored, async (t, { name, last, response }) => {
      const listed = expectStatus(await listCommits(t, name), 200).records('commits');
      const shas = listed.map(({ sha }) => sha);
      expectTrue(shas.includes(last.sha), 'the list of commits must contain the old tip', shas);
      const { git } = await clone(t, name);
      const parents = await git.parents(response.string('commit', 'commit_sha'));
      expectTrue(parents.includes(last.sha), 'the old tip must be a parent of the new commit', parents);
    }),
  },
  {
    id: 'restore.author.recorded',
    says: 'author becomes the author of the new commit.',
    check: on(restoredCommit, async (_t, commit) => expectPerson(commit, 'author', AUTHOR)),
  },
  {
    id: 'restore.commit_message.used',
    says: 'commit_message becomes the message of the new commit.',
    clauses: MESSAGE_CLAUSES,
    check: async (t) => {
      for (const message of MESSAGES) {
        const commit = await restoredCommit(t, { commit_message: message });
        expectKept(commit.string('commit', 'message'), message, 'message must be the sent message');
      }
      const message = (await restoredCommit(t)).string('commit', 'message');
      t.observe('message without one', message.replace(/[0-9a-f]{7,40}/g, '<sha>'));
    },
  },
  {
    id: 'restore.committer.used',
    says: 'committer becomes the committer of the new commit.',
    clauses: { 'author-stays': 'The author of the commit is still that of the request.' },
    check: async (t) => {
      const commit = await restoredCommit(t, { committer: COMMITTER });
      expectPerson(commit, 'committer', COMMITTER);
      expectPerson(commit, 'author', AUTHOR);
      t.observe('committer without one', (await restoredCommit(t)).string('commit', 'committer_name'));
    },
  },
  {
    id: 'restore.resp.commit',
    says: 'commit has the new commit, its tree, the branch and the size of the pack.',
    check: on(restored, async (t, { response }) => {
      expectSha(response.find('commit', 'commit_sha'), 'commit_sha must be a full SHA');
      expectSha(response.find('commit', 'tree_sha'), 'tree_sha must be a full SHA');
      expectSame(response.string('commit', 'target_branch'), t.defaultBranch, 'target_branch');
      expectTrue(response.integer('commit', 'pack_bytes') >= 0, 'pack_bytes must not be negative');
    }),
  },
  {
    id: 'restore.resp.result',
    says: 'result has the old tip, the new tip and the status ok.',
    check: on(restored, async (t, { last, response }) => {
      const { old_sha, new_sha, success, status, message } = response.record('result');
      expectSame(
        [old_sha, new_sha],
        [last.sha, response.string('commit', 'commit_sha')],
        'old_sha and new_sha must be the tips before and after the restore',
      );
      expectSame(
        [success, status, message ?? ''],
        [true, 'ok', ''],
        'the result must have success true, status ok and an empty message',
      );
      expectOneOf(response.find('result', 'branch'), defaultBranchNames(t), 'result.branch');
    }),
  },
  {
    id: 'restore.expected_head.match',
    says: 'A restore succeeds without expected_head_sha, and with one that equals the tip.',
    clauses: { 'other-branch': 'On a branch other than the default branch, the tip of the named branch is meant.' },
    check: async (t) => {
      await restored(t);
      const { name, seed, last, side, sideTip } = await twoBranches(t);
      const onSide = { target_branch: side, expected_head_sha: sideTip };
      expectStatus(await restore(t, name, restoreMetadata(t, seed, onSide), { mustSucceed: true }), 201);
      const onDefault = { expected_head_sha: last.sha };
      expectStatus(await restore(t, name, restoreMetadata(t, seed, onDefault), { mustSucceed: true }), 201);
    },
  },
  {
    id: 'restore.expected_head.mismatch',
    says: 'An expected_head_sha that differs from the tip is refused with 409; the branch does not move.',
    clauses: {
      stale: 'An earlier tip of the branch is refused.',
      target: 'The commit to restore is refused if it is not the tip.',
      unknown: 'An SHA that no commit has is refused.',
      'tip-of-another-branch': 'The tip of another branch is refused.',
      zeros: '40 zeros are refused.',
      shortened: 'The first digits of an earlier tip are refused.',
      'shortened-tip': 'The first digits of the tip are refused.',
      'other-branch': 'On a branch other than the default branch, the tip of the default branch is refused.',
      race: 'Of two concurrent restores with the same expected_head_sha, exactly one succeeds.',
    },
    check: on(twoBranches, async (t, { name, seed, last, side, sideTip }) => {
      const expecting = (sha: string, more: object = {}) =>
        restore(t, name, restoreMetadata(t, seed, { expected_head_sha: sha, ...more }));
      for (const sha of [last.before, seed, ABSENT_SHA, sideTip]) expectStatus(await expecting(sha), 409);
      expectRefused(await expecting(ZEROS));
      for (const sha of [last.before, last.sha]) expectRefused(await expecting(sha.slice(0, 12)));
      expectSame(await tipOf(t, name), last.sha, 'the branch tip must not change');
      expectStatus(await expecting(last.sha, { target_branch: side }), 409);
      expectSame(await tipOf(t, name, side), sideTip, 'the tip of the other branch must not change');
      const { sha: tip } = await commitFiles(t, name, { 'newer.txt': t.uniqueName() });
      const race = [seed, last.sha].map((target) =>
        restore(t, name, restoreMetadata(t, target, { expected_head_sha: tip })),
      );
      const statuses = (await Promise.all(race)).map(({ status }) => status).sort();
      expectSame(statuses, [201, 409], 'one of two concurrent restores must succeed and the other must conflict');
    }),
  },
]);

import {
  AUTHOR,
  COMMITTER,
  defaultBranchNames,
  getCommit,
  restore,
  restoreMetadata,
  tipOf,
} from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectOneOf, expectSame, expectSha, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { clone } from '../../git/git-client.js';
import { expectKept, expectPerson, PADDED } from '../kept-text.js';
import { defineWritingRules, on } from '../rule.js';
import { moved, restored } from './moved.js';

async function restoredCommit(t: RuleContext, more: object = {}): Promise<ApiResponse> {
  const { name, answer: response } = await restored(t, more);
  return getCommit(t, name, response.string('commit', 'commit_sha'));
}

export const restoreEffect = defineWritingRules('2. Restore', 'restore-effect', [
  {
    id: 'restore.effect.new-commit',
    says: 'A restore adds a new commit.',
    check: on(restored, async (_t, { seed, last, answer: response }) => {
      const sha = response.string('commit', 'commit_sha');
      expectTrue(sha !== seed && sha !== last.sha, 'the commit must be new', sha);
    }),
  },
  {
    id: 'restore.effect.tree',
    says: 'The new commit has the tree of the target commit.',
    check: on(restored, async (t, { name, seed, answer: response }) => {
      const { git, tip } = await clone(t, name);
      expectSame(
        (await git.commit(tip)).tree,
        (await git.commit(seed)).tree,
        'the tree of the new commit must be the tree of the target',
      );
      expectSame(
        response.string('commit', 'tree_sha'),
        (await git.commit(seed)).tree,
        'tree_sha must be the tree of the target',
      );
    }),
  },
  {
    id: 'restore.effect.history-kept',
    says: 'The earlier commits of the branch stay in its history.',
    check: on(restored, async (t, { name, last, answer: response }) => {
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
    check: async (t) => {
      for (const message of ['Put it back\n\nAs it was.', PADDED]) {
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
    check: async (t) => {
      const commit = await restoredCommit(t, { committer: COMMITTER });
      expectPerson(commit, 'committer', COMMITTER);
      t.observe('committer without one', (await restoredCommit(t)).string('commit', 'committer_name'));
    },
  },
  {
    id: 'restore.resp.commit',
    says: 'commit has the new commit, its tree, the branch and the size of the pack.',
    check: on(restored, async (t, { answer: response }) => {
      expectSha(response.find('commit', 'commit_sha'), 'commit_sha must be a full SHA');
      expectSha(response.find('commit', 'tree_sha'), 'tree_sha must be a full SHA');
      expectSame(response.string('commit', 'target_branch'), t.defaultBranch, 'target_branch');
      expectTrue(response.integer('commit', 'pack_bytes') >= 0, 'pack_bytes must not be negative');
    }),
  },
  {
    id: 'restore.resp.result',
    says: 'result has the old tip, the new tip and the status ok.',
    check: on(restored, async (t, { last, answer: response }) => {
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
    check: async (t) => {
      await restored(t);
      const { name, seed, last } = await moved(t);
      expectStatus(await restore(t, name, restoreMetadata(t, seed, { expected_head_sha: last.sha })), 201);
    },
  },
  {
    id: 'restore.expected_head.mismatch',
    says: 'An expected_head_sha that differs from the tip is 409; the branch does not move.',
    check: on(moved, async (t, { name, seed, last }) => {
      expectStatus(await restore(t, name, restoreMetadata(t, seed, { expected_head_sha: seed })), 409);
      expectSame(await tipOf(t, name), last.sha, 'the branch tip must not change');
    }),
  },
]);

import {
  ABSENT_SHA,
  AUTHOR,
  COMMITTER,
  commitFiles,
  getCommit,
  mustTipOf,
  RESTORE,
  resetRoute,
  restore,
  segment,
  tipOf,
  type Written,
  writer,
} from '../../api.js';
import type { Answer } from '../../exchange.js';
import {
  expectCode,
  expectOther,
  expectRefused,
  expectSame,
  expectSha,
  expectStatus,
  expectTrue,
} from '../../expect.js';
import { createGit } from '../../git/git-client.js';
import { defineRules } from '../../rule.js';
import type { Ask, Trial } from '../../trial.js';
import { credentialRules } from '../credentials.js';

/** The scratch repository one commit after its seed: restoring the seed changes something. */
export async function moved(t: Trial): Promise<{ name: string; seed: string; last: Written }> {
  const { name, tip } = await t.world.scratch(t);
  return { name, seed: tip, last: await commitFiles(t, name, { 'moved.txt': t.world.newName() }) };
}

export function aim(seed: string, more: object = {}): Record<string, unknown> {
  return { target_branch: 'main', target_commit_sha: seed, author: AUTHOR, ...more };
}

async function restored(t: Trial, more: object = {}, ask: Ask = {}) {
  const { name, seed, last } = await moved(t);
  const answer = await restore(t, name, aim(seed, more), ask);
  expectStatus(answer, 201);
  return { name, seed, last, answer };
}

async function restoredCommit(t: Trial, more: object = {}): Promise<Answer> {
  const { name, answer } = await restored(t, more);
  return getCommit(t, name, answer.string('commit', 'commit_sha'));
}

export const restoreRoutes = defineRules('2. Restore', 'restore-routes', [
  {
    id: 'restore.route.v1',
    says: 'POST /api/v1/repos/restore-commit answers 201 with commit and result.',
    writes: true,
    check: async (t) => {
      const { answer } = await restored(t);
      answer.record('commit');
      answer.record('result');
    },
  },
  {
    id: 'restore.route.reset-alias',
    says: 'POST /api/repos/{repo_name}/reset-commits does the same.',
    writes: true,
    check: async (t) => {
      const { name, seed, last } = await moved(t);
      const answer = await t.post(resetRoute(name), { as: writer(name), lines: [{ metadata: aim(seed) }] });
      expectStatus(answer, 201);
      expectOther(await mustTipOf(t, name), last.sha, 'the branch moved');
      expectSame(answer.string('commit', 'commit_sha'), await mustTipOf(t, name), 'to the commit in the answer');
    },
  },
  {
    id: 'restore.route.same-handler',
    says: 'Both routes answer the same mistakes alike.',
    writes: true,
    check: async (t) => {
      const { name, seed } = await moved(t);
      for (const metadata of [
        {},
        aim(seed, { target_branch: 5 }),
        aim(ABSENT_SHA),
        aim(seed, { expected_head_sha: seed }),
      ]) {
        const [a, b] = [
          await t.post(RESTORE, { as: writer(name), lines: [{ metadata }] }),
          await t.post(resetRoute(name), { as: writer(name), lines: [{ metadata }] }),
        ];
        expectSame(b.outcome, a.outcome, 'status and code agree');
        expectSame(Object.keys(b.record()).sort(), Object.keys(a.record()).sort(), 'the members agree');
      }
    },
  },
  {
    id: 'restore.route.preferred',
    says: 'Where restore-commit exists beside /api/v1 is left open.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const { name } = await t.world.scratch(t);
      for (const path of [
        RESTORE,
        `/api/repos/${segment(name)}/restore-commit`,
        '/api/v1/repos/reset-commits',
        resetRoute(name),
      ]) {
        t.observe(
          path.replace(segment(name), '{repo_name}'),
          (await t.post(path, { as: writer(name), body: '{' })).outcome,
        );
      }
    },
  },
  {
    id: 'restore.repo-from-claim',
    says: 'On the /api/v1 route the branch that moves is in the repository the token names.',
    writes: true,
    check: async (t) => {
      const bystander = await t.world.fresh(t);
      const { name, last } = await restored(t);
      expectOther(await mustTipOf(t, name), last.sha, 'the named one moved');
      expectSame(await mustTipOf(t, bystander.name), bystander.tip, 'the other one did not');
    },
  },
  {
    id: 'restore.alias.name-equals-claim',
    says: 'On reset-commits a path that names another repository than the token is 404.',
    writes: true,
    check: async (t) => {
      const { name, seed } = await moved(t);
      const { name: other } = await t.world.other(t);
      const answer = await t.post(resetRoute(other), { as: writer(name), lines: [{ metadata: aim(seed) }] });
      expectCode(answer, 404, 'repository_not_found');
    },
  },
  {
    id: 'restore.alias.needs-repo-claim',
    says: 'reset-commits refuses a token without a repo claim.',
    writes: true,
    check: async (t) => {
      const { name, seed } = await moved(t);
      const answer = await t.post(resetRoute(name), {
        as: { scopes: ['git:write'] },
        lines: [{ metadata: aim(seed) }],
      });
      t.tolerate('A03', 'no repo claim', answer, ['400 repo_claim_missing', '403 forbidden']);
    },
  },
  {
    id: 'restore.err.401.no-header',
    says: 'Both routes without any credential are 401, and nothing moves.',
    writes: true,
    check: async (t) => {
      const { name, seed, last } = await moved(t);
      for (const path of [RESTORE, resetRoute(name)]) {
        expectCode(await t.post(path, { lines: [{ metadata: aim(seed) }] }), 401, 'unauthorized');
      }
      expectSame(await mustTipOf(t, name), last.sha, 'the branch stays');
    },
  },
  ...credentialRules('restore', {
    invalid: 'restore.err.401.invalid-jwt',
    scope: 'restore.err.403.scope',
    missingRepo: 'restore.err.404.repo',
  }),
  {
    id: 'restore.gateway-body',
    says: 'Refused credentials are problem details here too.',
    writes: true,
    check: async (t) => {
      const { name, seed } = await moved(t);
      const lines = [{ metadata: aim(seed) }];
      for (const answer of [await t.post(RESTORE, { lines }), await t.post(RESTORE, { as: { repo: name }, lines })]) {
        expectRefused(answer);
        expectSame(answer.mediaType, 'application/problem+json', 'the media type');
        answer.string('code');
      }
    },
  },
]);

export const restoreEffect = defineRules('2. Restore', 'restore-effect', [
  {
    id: 'restore.effect.new-commit',
    says: 'A restore adds a commit.',
    writes: true,
    check: async (t) => {
      const { seed, last, answer } = await restored(t);
      const sha = answer.string('commit', 'commit_sha');
      expectTrue(sha !== seed && sha !== last.sha, 'the commit is new', sha);
    },
  },
  {
    id: 'restore.effect.tree',
    says: 'The new commit holds what the target commit holds.',
    writes: true,
    check: async (t) => {
      const { name, seed, answer } = await restored(t);
      const git = await createGit(t);
      const tip = await git.fetch(name);
      expectSame((await git.commit(tip)).tree, (await git.commit(seed)).tree, 'the trees are one');
      expectSame(answer.string('commit', 'tree_sha'), (await git.commit(seed)).tree, 'tree_sha is that tree');
    },
  },
  {
    id: 'restore.effect.history-kept',
    says: 'What was there before stays in the history.',
    writes: true,
    check: async (t) => {
      const { name, last, answer } = await restored(t);
      const git = await createGit(t);
      await git.fetch(name);
      const parents = await git.parents(answer.string('commit', 'commit_sha'));
      expectTrue(parents.includes(last.sha), 'the old tip is a parent of the new one', parents);
    },
  },
  {
    id: 'restore.author.recorded',
    says: 'The author given is the author of the commit.',
    writes: true,
    check: async (t) => {
      const commit = await restoredCommit(t);
      expectSame(
        [commit.find('commit', 'author_name'), commit.find('commit', 'author_email')],
        [AUTHOR.name, AUTHOR.email],
        'the author',
      );
    },
  },
  {
    id: 'restore.commit_message.used',
    says: 'commit_message is the message of the commit.',
    writes: true,
    check: async (t) => {
      const commit = await restoredCommit(t, { commit_message: 'Put it back\n\nAs it was.' });
      expectSame(commit.string('commit', 'message').trimEnd(), 'Put it back\n\nAs it was.', 'the message');
      t.observe(
        'message without one',
        (await restoredCommit(t)).string('commit', 'message').replace(/[0-9a-f]{7,40}/g, '<sha>'),
      );
    },
  },
  {
    id: 'restore.committer.used',
    says: 'The committer given is the committer of the commit.',
    writes: true,
    check: async (t) => {
      const commit = await restoredCommit(t, { committer: COMMITTER });
      expectSame(
        [commit.find('commit', 'committer_name'), commit.find('commit', 'committer_email')],
        [COMMITTER.name, COMMITTER.email],
        'the committer',
      );
      t.observe('committer without one', (await restoredCommit(t)).string('commit', 'committer_name'));
    },
  },
  {
    id: 'restore.resp.commit',
    says: 'commit has the new commit, its tree, the branch and the size of the pack.',
    writes: true,
    check: async (t) => {
      const { answer } = await restored(t);
      expectSha(answer.find('commit', 'commit_sha'), 'commit_sha is a SHA');
      expectSha(answer.find('commit', 'tree_sha'), 'tree_sha is a SHA');
      expectSame(answer.string('commit', 'target_branch'), 'main', 'target_branch');
      expectTrue(answer.integer('commit', 'pack_bytes') >= 0, 'pack_bytes is not negative');
    },
  },
  {
    id: 'restore.resp.result',
    says: 'result tells where the branch stood, where it stands, and that all is well.',
    writes: true,
    check: async (t) => {
      const { last, answer } = await restored(t);
      const { old_sha, new_sha, success, status, message } = answer.record('result');
      const expected = {
        old_sha: last.sha,
        new_sha: answer.string('commit', 'commit_sha'),
        success: true,
        status: 'ok',
        message: '',
      };
      expectSame({ old_sha, new_sha, success, status, message: message ?? '' }, expected, 'the result');
      answer.string('result', 'branch');
    },
  },
  {
    id: 'restore.expected_head.match',
    says: 'A restore passes without expected_head_sha and with the right one.',
    writes: true,
    check: async (t) => {
      await restored(t);
      const { name, seed, last } = await moved(t);
      expectStatus(await restore(t, name, aim(seed, { expected_head_sha: last.sha })), 201);
    },
  },
  {
    id: 'restore.expected_head.mismatch',
    says: 'A wrong expected_head_sha is 409, and the branch stays.',
    writes: true,
    check: async (t) => {
      const { name, seed, last } = await moved(t);
      expectStatus(await restore(t, name, aim(seed, { expected_head_sha: seed })), 409);
      expectSame(await tipOf(t, name), last.sha, 'the branch stays');
    },
  },
]);

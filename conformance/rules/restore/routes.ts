import {
  ABSENT_SHA,
  ANONYMOUS,
  COMMITTER,
  defaultBranchNames,
  mustTipOf,
  RESTORE,
  reader,
  repositoryPath,
  reset,
  resetRoute,
  restore,
  restoreMetadata,
  segment,
  writer,
} from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { GENERIC, isListedCode } from '../../check/codes.js';
import {
  expectCode,
  expectOneOf,
  expectOther,
  expectRefused,
  expectSame,
  expectStatus,
  expectTrue,
} from '../../check/expect.js';
import { tryAgain } from '../../check/try-again.js';
import { groupRepository, newRepository, otherRepository } from '../../fixtures/repositories.js';
import { clone } from '../../git/git-client.js';
import { expectKept } from '../kept-text.js';
import { defineWritingRules, leftOpen, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { moved, restored } from './moved.js';

/**
 * Returns status and code of a response, for a comparison. A code that the specification does not list becomes the
 * generic code of the status.
 */
function outcomeOf({ status, code, outcome }: ApiResponse): string {
  return code === undefined || isListedCode(code) ? outcome : `${status} ${GENERIC[status] ?? code}`;
}

/**
 * Returns those members of a failure body that show its kind: `code` for problem details, `commit` and `result` for a
 * write result. All other members are optional.
 */
function membersOf(response: ApiResponse): string[] {
  return ['code', 'commit', 'result'].filter((name) => name in response.record());
}

/** Returns the documented members of a failed write result. The message is left out, because it is free text. */
function failureOf(response: ApiResponse): unknown[] {
  const members = ['branch', 'old_sha', 'new_sha', 'success', 'status'];
  return [response.find('commit'), ...members.map((name) => response.find('result', name) ?? null)];
}

export const restoreRoutes = defineWritingRules('2. Restore', 'restore-routes', [
  {
    id: 'restore.route.v1',
    says: 'POST /api/v1/repos/restore-commit answers 201 with commit and result.',
    check: on(restored, async (_t, { response }) => {
      response.record('commit');
      response.record('result');
    }),
  },
  {
    id: 'restore.route.reset-alias',
    says: 'POST /api/repos/{repo_name}/reset-commits is an alias with the same effect.',
    clauses: {
      tree: 'The new commit has the tree of the target commit.',
      message: 'The new commit has the message of the request.',
      author: 'The new commit has the author of the request.',
      committer: 'The new commit has the committer of the request.',
      'expected-head': 'An expected_head_sha that equals the tip is accepted.',
      commit: 'commit has the new commit, its tree, the branch and the size of the pack.',
      result: 'result has the branch, both tips, and a successful status.',
    },
    check: async (t) => {
      await moved(t);
      const { name, seed, last } = await moved(t);
      const [message, author] = ['Reset it\n\nby the alias', { name: 'Rita Reset', email: 'rita@example.com' }];
      const more = { expected_head_sha: last.sha, commit_message: message, author, committer: COMMITTER };
      const response = expectStatus(await reset(t, name, restoreMetadata(t, seed, more)), 201);
      const { git, tip } = await clone(t, name);
      const [made, target] = [await git.commit(tip), await git.commit(seed)];
      expectSame(made.tree, target.tree, 'the tree of the new commit must be the tree of the target');
      expectTrue(made.parent.includes(last.sha), 'the old tip must be a parent of the new commit', made.parent);
      expectKept(made.message, message, 'the message must be the sent message');
      for (const [role, person] of Object.entries({ author, committer: COMMITTER })) {
        const { name, email } = role === 'author' ? made.author : made.committer;
        expectSame({ name, email }, { ...person }, `the ${role} must be that of the request`);
      }
      const { commit_sha, tree_sha, target_branch, pack_bytes } = response.record('commit');
      expectSame([commit_sha, tree_sha], [tip, made.tree], 'commit must show the new commit and its tree');
      expectSame(target_branch, t.defaultBranch, 'commit.target_branch');
      expectTrue(Number.isInteger(pack_bytes), 'commit.pack_bytes must be an integer', pack_bytes);
      const { branch, old_sha, new_sha, success, status, message: why = '' } = response.record('result');
      expectSame(
        [old_sha, new_sha],
        [last.sha, tip],
        'old_sha and new_sha must be the tips before and after the reset',
      );
      const outcome = [success, status, why];
      expectSame(outcome, [true, 'ok', ''], 'the result must have success true, status ok and an empty message');
      expectOneOf(branch, defaultBranchNames(t), 'result.branch');
    },
  },
  {
    id: 'restore.route.same-handler',
    says: 'Both restore routes answer the same invalid requests in the same way.',
    clauses: {
      'missing-commit': 'Both routes refuse a target commit that does not exist in the same way.',
      'expected-head': 'Both routes refuse an expected_head_sha that differs from the tip in the same way.',
      already: 'Both routes answer a restore that would change nothing in the same way.',
      'empty-body': 'Both routes refuse an empty body in the same way.',
      'no-author': 'Both routes refuse a request without author in the same way.',
    },
    check: on(moved, async (t, { name, seed, last }) => {
      const invalid: [metadata: unknown, options?: { body: string }][] = [
        [{}],
        [restoreMetadata(t, seed, { target_branch: 5 })],
        [restoreMetadata(t, seed, { author: undefined })],
        [restoreMetadata(t, ABSENT_SHA)],
        [restoreMetadata(t, seed, { expected_head_sha: seed })],
        [restoreMetadata(t, last.sha)],
        [undefined, { body: '' }],
      ];
      for (const [metadata, options] of invalid) {
        await tryAgain(async () => {
          const [a, b] = [await restore(t, name, metadata, options), await reset(t, name, metadata, options)];
          expectSame(outcomeOf(b), outcomeOf(a), 'both requests must get the same status and code');
          expectSame(membersOf(b), membersOf(a), 'both responses must have the same members');
          expectSame(failureOf(b), failureOf(a), 'both responses must have the same result');
        });
      }
    }),
  },
  leftOpen(
    'restore.route.preferred',
    'The specification does not say whether restore-commit also has a route outside /api/v1.',
    groupRepository,
    async (t, { name }) => {
      for (const path of [
        RESTORE,
        `${repositoryPath(name)}/restore-commit`,
        '/api/v1/repos/reset-commits',
        resetRoute(name),
      ]) {
        t.observe(path.replace(segment(name), '{repo_name}'), await t.post(path, { as: writer(name), body: '{' }));
      }
    },
  ),
  {
    id: 'restore.repo-from-claim',
    says: 'The /api/v1 route moves the branch of the repository in the repo claim.',
    check: on(newRepository, async (t, bystander) => {
      const { name, last } = await restored(t);
      expectOther(await mustTipOf(t, name), last.sha, 'the branch of the named repository must change');
      expectSame(await mustTipOf(t, bystander.name), bystander.tip, 'the tip of the other repository must not change');
    }),
  },
  {
    id: 'restore.alias.name-equals-claim',
    says: 'A request to reset-commits is refused with 404 if the repository in its path is not the one in the repo claim.',
    check: on(moved, async (t, { name, seed }) => {
      const { name: other } = await otherRepository(t);
      expectCode(await reset(t, other, restoreMetadata(t, seed), { as: writer(name) }), 404, 'repository_not_found');
    }),
  },
  {
    id: 'restore.alias.needs-repo-claim',
    says: 'reset-commits rejects a token without a repo claim.',
    check: on(moved, async (t, { name, seed }) => {
      const response = await reset(t, name, restoreMetadata(t, seed), { as: { scopes: ['git:write'] } });
      t.tolerate('A03', 'no repo claim', response, ['400 repo_claim_missing', '403 forbidden']);
    }),
  },
  {
    id: 'restore.err.401.no-header',
    says: 'Both restore routes answer 401 to a request without a credential, and change nothing.',
    check: on(moved, async (t, { name, seed, last }) => {
      for (const send of [restore, reset]) {
        expectCode(await send(t, name, restoreMetadata(t, seed), ANONYMOUS), 401, 'unauthorized');
      }
      expectSame(await mustTipOf(t, name), last.sha, 'the branch tip must not change');
    }),
  },
  ...tokenRules('restore', {
    invalid: 'restore.err.401.invalid-jwt',
    scope: 'restore.err.403.scope',
    missingRepo: 'restore.err.404.repo',
  }),
  {
    id: 'restore.gateway-body',
    says: 'The response to a restore with invalid credentials is a problem details object and not a restore result.',
    clauses: {
      scope: 'The response to a token without the scope git:write is a problem details object.',
      alias: 'The response of reset-commits to an invalid token is a problem details object too.',
    },
    check: on(moved, async (t, { name, seed }) => {
      const refusals = [undefined, { repo: name }, reader(name)].map((as) => [restore, as] as const);
      for (const [send, as] of [...refusals, [reset, { repo: name }] as const]) {
        const response = await send(t, name, restoreMetadata(t, seed), { as });
        expectRefused(response);
        expectSame(response.mediaType, 'application/problem+json', 'unexpected media type');
        response.string('code');
      }
    }),
  },
]);

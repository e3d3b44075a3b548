import {
  ABSENT_SHA,
  ANONYMOUS,
  mustTipOf,
  RESTORE,
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
import { expectCode, expectOther, expectRefused, expectSame, expectStatus } from '../../check/expect.js';
import { tryAgain } from '../../check/try-again.js';
import { groupRepository, newRepository, otherRepository } from '../../fixtures/repositories.js';
import { defineWritingRules, leftOpen, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { moved, restored } from './moved.js';

/**
 * Returns status and code of a response for a comparison. A code that the specification does not list is replaced with
 * the generic code of the status.
 */
function outcomeOf({ status, code, outcome }: ApiResponse): string {
  return code === undefined || isListedCode(code) ? outcome : `${status} ${GENERIC[status] ?? code}`;
}

/**
 * Returns the members that distinguish the two kinds of failure bodies: `code` for problem details, `commit` and
 * `result` for a write result. Other members are optional.
 */
function membersOf(response: ApiResponse): string[] {
  return ['code', 'commit', 'result'].filter((name) => name in response.record());
}

export const restoreRoutes = defineWritingRules('2. Restore', 'restore-routes', [
  {
    id: 'restore.route.v1',
    says: 'POST /api/v1/repos/restore-commit answers 201 with commit and result.',
    check: on(restored, async (_t, { answer: response }) => {
      response.record('commit');
      response.record('result');
    }),
  },
  {
    id: 'restore.route.reset-alias',
    says: 'POST /api/repos/{repo_name}/reset-commits is an alias with the same effect.',
    check: on(moved, async (t, { name, seed, last }) => {
      const response = expectStatus(await reset(t, name, restoreMetadata(t, seed)), 201);
      expectOther(await mustTipOf(t, name), last.sha, 'the branch tip must change');
      expectSame(
        response.string('commit', 'commit_sha'),
        await mustTipOf(t, name),
        'commit_sha must be the new tip of the branch',
      );
    }),
  },
  {
    id: 'restore.route.same-handler',
    says: 'Both restore routes answer the same invalid requests in the same way.',
    check: on(moved, async (t, { name, seed }) => {
      for (const metadata of [
        {},
        restoreMetadata(t, seed, { target_branch: 5 }),
        restoreMetadata(t, ABSENT_SHA),
        restoreMetadata(t, seed, { expected_head_sha: seed }),
      ]) {
        await tryAgain(async () => {
          const [a, b] = [await restore(t, name, metadata), await reset(t, name, metadata)];
          expectSame(outcomeOf(b), outcomeOf(a), 'both requests must get the same status and code');
          expectSame(membersOf(b), membersOf(a), 'both responses must have the same members');
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
    says: 'reset-commits is 404 if the name in its path differs from the repo claim.',
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
    says: 'Rejected credentials are problem details, not a restore result.',
    check: on(moved, async (t, { name, seed }) => {
      for (const as of [undefined, { repo: name }]) {
        const response = await restore(t, name, restoreMetadata(t, seed), { as });
        expectRefused(response);
        expectSame(response.mediaType, 'application/problem+json', 'unexpected media type');
        response.string('code');
      }
    }),
  },
]);

import { ANONYMOUS, createRepo, deleteRepo, getRepo, listCommits, repoWriter } from '../../api/requests.js';
import { expectCode, expectOneOf, expectSame, expectStatus, expectSuccess } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { groupRepository, newRepository, reserveName, sampleRepository } from '../../fixtures/repositories.js';
import { callOperation, forEachRoute, routeOf } from '../companion/call-operation.js';
import { OPERATIONS } from '../companion/operations.js';
import { findMismatches } from '../companion/shape.js';
import { FAMILIES, UNREACHABLE_UPSTREAM } from '../companion/test-repository.js';
import { documentedOperation } from '../documented-operations.js';
import { defineRules, leftOpen, on, type RuleRow } from '../rule.js';
import { tokenRules } from '../token-rules.js';

export const repositoryRules = defineRules('9. Repository metadata', 'get-repository', [
  {
    id: 'repo.get.route',
    says: 'GET /api/v1/repo answers 200 with the repository record.',
    check: async (t) => {
      const response = expectStatus(await getRepo(t, (await sampleRepository(t)).name), 200);
      for (const member of ['repo_id', 'url', 'default_branch', 'created_at']) response.string(member);
    },
  },
  ...tokenRules('repo', {
    noHeader: 'repo.get.401.no-header',
    invalid: 'repo.get.401.invalid-jwt',
    missingRepo: 'repo.get.404',
  }),
]);

/**
 * Defines a rule: the route of an operation exists. The usual status is 200. If `statuses` includes 400, the operation
 * may also refuse, because its request lacks parameters that the specification does not show.
 */
function exists(id: string, name: string, statuses: readonly number[] = [200]): RuleRow {
  const { route, scope, repo, send } = documentedOperation(name);
  const says = statuses.includes(400) ? `The route ${route} exists.` : `${route} answers 200.`;
  const check = async (t: RuleContext) => {
    const response = await send(t, scope === 'org:read' ? 'none' : await repo(t), {});
    expectOneOf(response.status, statuses, says);
  };
  return { id, says, check };
}

export const otherRules = defineRules('Other endpoints', 'other-endpoints', [
  exists('other.list-repos.exists', 'list-repos'),
  {
    id: 'other.create.exists',
    says: 'POST /api/repos creates the repository named by the repo claim.',
    clauses: {
      record: 'If the response has repo_id or default_branch, the value is that of the record that is read later.',
    },
    writes: true,
    check: on(reserveName, async (t, name) => {
      const created = expectSuccess(await createRepo(t, name));
      const response = expectStatus(await getRepo(t, name), 200);
      expectSame(response.string('url'), name, 'url must be the name in the repo claim');
      for (const member of ['repo_id', 'default_branch']) {
        const value = created.find(member);
        if (value !== undefined) expectSame(value, response.find(member), `${member} must be that of the record`);
      }
    }),
  },
  {
    id: 'other.create.status',
    says: 'The specification does not show the status and body of a created repository.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const response = await createRepo(t, await reserveName(t));
      t.observe('status', response.status);
      const { json } = response;
      t.observe('members', typeof json === 'object' && json !== null ? Object.keys(json) : 'no JSON');
      t.tolerate('A25', 'repository created', response, ['201', '200', '202', '204']);
    },
  },
  {
    id: 'other.create.body.equal',
    says: 'A repo_name in the body that equals the repo claim is accepted.',
    writes: true,
    check: on(reserveName, async (t, name) => expectSuccess(await createRepo(t, name, { json: { repo_name: name } }))),
  },
  {
    id: 'other.create.body.absent',
    says: 'The body may be empty or absent.',
    writes: true,
    check: async (t) => {
      expectSuccess(await createRepo(t, await reserveName(t)));
      expectSuccess(await createRepo(t, await reserveName(t), { json: {} }));
    },
  },
  {
    id: 'other.create.body.mismatch',
    says: 'A repo_name in the body that differs from the repo claim is refused with 400; no repository is created.',
    clauses: {
      letters: 'A repo_name that differs only in its letters, upper or lower case, is another name.',
      part: 'A repo_name that is a part of the claim, or contains it, is another name.',
      type: 'A repo_name that is a number is refused with 400.',
      empty: 'A repo_name that is an empty text is refused with 400.',
      base: 'This is also true if the body names an external repository.',
    },
    writes: true,
    check: async (t) => {
      const [name, other] = [await reserveName(t), await reserveName(t)];
      expectCode(await createRepo(t, name, { json: { repo_name: other } }), 400, 'repo_name_mismatch');
      if (t.target.companion) {
        const json = { repo_name: other, base_repo: UNREACHABLE_UPSTREAM };
        expectCode(await createRepo(t, name, { json }), 400, 'repo_name_mismatch');
      }
      for (const repo_name of [5, '']) expectStatus(await createRepo(t, name, { json: { repo_name } }), 400);
      for (const repo_name of [name.toUpperCase(), `${name}x`, name.slice(0, -1), name.replace(/.*\//, '')]) {
        if (repo_name === name) continue;
        expectCode(await createRepo(t, name, { json: { repo_name } }), 400, 'repo_name_mismatch');
      }
      for (const absent of [name, other]) expectStatus(await getRepo(t, absent), 404);
    },
  },
  {
    id: 'other.create.duplicate',
    says: 'The specification does not say how creating a repository that exists is answered.',
    level: 'UNSPECIFIED',
    writes: true,
    check: on(reserveName, async (t, name) => {
      expectSuccess(await createRepo(t, name));
      const again = await createRepo(t, name);
      t.observe('outcome', again);
      t.tolerate('A25', 'duplicate repository', again, ['409 conflict', '409', '201', '200']);
    }),
  },
  exists('other.meta.exists', 'meta'),
  leftOpen(
    'other.meta.content',
    'The specification does not show the responses of the repository list, organization metadata and diffs.',
    sampleContent,
    async (t, { name }) => {
      for (const [what, operation] of Object.entries({ repos: 'list-repos', meta: 'meta', diff: 'diff' })) {
        const response = await documentedOperation(operation).send(t, name, {});
        t.observe(what, response.status === 200 ? Object.keys(response.record()) : response.outcome);
      }
    },
  ),
  exists('other.branches.exists', 'branches', [200, 400]),
  exists('other.commits.exists', 'commits'),
  exists('other.diff.exists', 'diff', [200, 400]),
  {
    id: 'other.named-only',
    says: 'The specification names tags, credentials, upstream sync, merge preview, blame and deployments without their routes.',
    level: 'UNSPECIFIED',
    writes: true,
    check: async (t) => {
      const seen: Record<string, string> = {};
      await forEachRoute(
        t,
        () => true,
        async ({ operation, family, repository, label }) => {
          const response = await callOperation(repository, operation, family);
          seen[label] = response.outcome;
          if (!operation.ok.includes(response.status)) return `${response.outcome}, not ${operation.ok.join(' or ')}`;
          return findMismatches(response.json, operation.shape).join(', ') || undefined;
        },
      ).finally(() => t.observe('served', seen));
    },
  },
  {
    id: 'other.err.401.no-header',
    says: 'Operations without a documented request also require a bearer token.',
    writes: true,
    check: on(groupRepository, async (t, { name }) => {
      for (const operation of ['list-repos', 'branches', 'meta', 'commits', 'diff', 'create-repo']) {
        expectCode(await documentedOperation(operation).send(t, name, ANONYMOUS), 401, 'unauthorized');
      }
      if (!t.target.companion) return;
      for (const operation of OPERATIONS) {
        for (const family of FAMILIES) {
          const path = routeOf(operation, family, name);
          if (path !== undefined) expectStatus(await t.request(operation.method, path), 401);
        }
      }
    }),
  },
]);

export const deleted = defineRules('States', 'states-deleted', [
  {
    id: 'state.deleted.409',
    says: 'Deleting a repository a second time is refused with 409 repository_deleted.',
    reach: 'emulator',
    writes: true,
    check: on(newRepository, async (t, { name }) => {
      expectSuccess(await deleteRepo(t, name));
      const again = await deleteRepo(t, name);
      t.tolerate('A16', 'second delete', again, ['409 repository_deleted', '404 repository_not_found']);
    }),
  },
  {
    id: 'state.deleted.reads',
    says: 'The specification does not say whether reads of a deleted repository are refused with 404 repository_not_found or 409 repository_deleted.',
    level: 'UNSPECIFIED',
    reach: 'emulator',
    writes: true,
    check: on(newRepository, async (t, { name }) => {
      expectSuccess(await deleteRepo(t, name));
      const response = await getRepo(t, name);
      t.observe('read', response);
      t.tolerate('A16', 'read after delete', response, ['404 repository_not_found', '409 repository_deleted']);
      t.observe('list', await listCommits(t, name));
      t.observe('create again', await t.post('/api/repos', { as: repoWriter(name) }));
    }),
  },
]);

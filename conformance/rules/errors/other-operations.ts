import { repositoryPath, repoWriter } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import type { SpecificCode } from '../../check/codes.js';
import { expectSuccess } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import { reserveName } from '../../fixtures/repositories.js';
import { callOperation } from '../companion/call-operation.js';
import { MERGER } from '../companion/operations.js';
import type { TestRepository } from '../companion/test-repository.js';

/** Responses of several operations, by operation name as reports show it. */
type Responses = Readonly<Record<string, ApiResponse>>;

type Provoke = (repository: TestRepository) => Promise<Responses>;

/** Branch name that exists in no repository. */
const ABSENT = 'no-such-branch';

/**
 * Requests that cause an error code at operations other than the usual one. These requests need routes of published
 * clients; the usual request for each code works on every target.
 */
export const OTHER_OPERATIONS: Readonly<Partial<Record<SpecificCode, Provoke>>> = {
  repo_name_mismatch: async ({ t }) => {
    const as = repoWriter(t.uniqueName());
    return { 'POST /api/v1/repos': await t.post('/api/v1/repos', { as, json: { repo_name: 'another' } }) };
  },
  branch_not_found: async (repository) => {
    const { branch } = repository;
    const merging = { strategy: 'merge', ...MERGER };
    const requests = {
      'get branch': { query: { name: ABSENT } },
      'branch diff': { query: { branch: ABSENT, base: branch } },
      'create branch': { json: { target_branch: 'new', base_branch: ABSENT } },
      'delete branch': { json: { name: ABSENT } },
      'merge preview': { query: { source_branch: branch, target_branch: ABSENT } },
    };
    const responses: Record<string, ApiResponse> = {};
    for (const [name, request] of Object.entries(requests))
      responses[name] = await callOperation(repository, name, 'preferred', request);
    for (const [source_branch, target_branch] of [
      [ABSENT, branch],
      [branch, ABSENT],
    ]) {
      const json = { source_branch, target_branch, ...merging };
      responses[`merge of ${source_branch}`] = await callOperation(repository, 'merge', 'preferred', { json });
    }
    return responses;
  },
  ref_not_found: async (repository) => {
    const ref = ABSENT;
    return {
      'commit diff': await callOperation(repository, 'commit diff', 'preferred', { query: { sha: ref } }),
      'list files': await callOperation(repository, 'list files', 'preferred', { query: { ref } }),
      blame: await callOperation(repository, 'blame', 'preferred', { query: { ref, path: repository.path } }),
    };
  },
  credential_not_found: async (repository) => ({
    'delete Git credential': await callOperation(repository, 'delete Git credential', 'preferred', {
      params: { id: 'none' },
    }),
    'delete Git credential by body': await callOperation(repository, 'delete Git credential', 'v1', {
      json: { id: 'none' },
    }),
  }),
  hosting_project_not_found: async (repository) => ({
    'list deployments': withHosting(await callOperation(repository, 'list deployments', 'preferred', {})),
    'get deployment': withHosting(
      await callOperation(repository, 'get deployment', 'preferred', { params: { id: 'none' } }),
    ),
  }),
  deployment_project_name_in_use: async (repository) => {
    const json = { deployment: { project_name: repository.unusedName('project') } };
    expectSuccess(withHosting(await callOperation(repository, 'update repository', 'preferred', { json })));
    const repo = await reserveName(repository.t);
    return { 'create repository': await callOperation(repository, 'create repository', 'preferred', { repo, json }) };
  },
  repository_not_found: async ({ t }) => {
    const as = repoWriter(t.uniqueName());
    return {
      'update repository': await t.request('PATCH', repositoryPath(as.repo ?? ''), { as, json: {} }),
      'delete repository': await t.request('DELETE', repositoryPath(as.repo ?? ''), { as }),
    };
  },
};

/** Returns the response. Skips the rule if the response shows that the organization has no hosting. */
export function withHosting(response: ApiResponse): ApiResponse {
  // Without hosting, the response is an error about hosting, or the refusal of a token with hosting scopes.
  if (response.status === 403 && response.code !== 'insufficient_scope')
    throw new Skip('the organization has no hosting');
  return response;
}

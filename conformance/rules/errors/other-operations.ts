import { repositoryPath, repoWriter } from '../../api/requests.js';
import { changeState, hasNamespaces, inNamespace } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import type { SpecificCode } from '../../check/codes.js';
import { expectSuccess } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { reserveName } from '../../fixtures/repositories.js';
import { callOperation } from '../companion/call-operation.js';
import { MERGER } from '../companion/operations.js';
import { TestRepository } from '../companion/test-repository.js';

/** Responses of several operations, by operation name as reports show it. */
type Responses = Readonly<Record<string, ApiResponse>>;

type Provoke = (t: RuleContext) => Promise<Responses>;

/** Returns a function that sends requests to a new repository. */
const onRepository =
  (provoke: (repository: TestRepository) => Promise<Responses>): Provoke =>
  async (t) =>
    provoke(await TestRepository.create(t));

/**
 * Upstream (repository to import from) that does not exist on a public forge. The service looks up the upstream before
 * it creates anything.
 */
export const ABSENT_UPSTREAM = { provider: 'github', owner: 'conformance', name: 'no-such-repository' };

/** Branch name that exists in no repository. */
const ABSENT = 'no-such-branch';

/**
 * Requests that cause an error code at operations other than the usual one. These requests need routes of published
 * clients; the usual request for each code works on every target.
 */
export const OTHER_OPERATIONS: Readonly<Partial<Record<SpecificCode, Provoke>>> = {
  repo_name_mismatch: async (t) => {
    const as = repoWriter(t.uniqueName());
    return { 'POST /api/v1/repos': await t.post('/api/v1/repos', { as, json: { repo_name: 'another' } }) };
  },
  branch_not_found: onRepository(async (repository) => {
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
  }),
  ref_not_found: onRepository(async (repository) => {
    const ref = ABSENT;
    return {
      'commit diff': await callOperation(repository, 'commit diff', 'preferred', { query: { sha: ref } }),
      'list files': await callOperation(repository, 'list files', 'preferred', { query: { ref } }),
      blame: await callOperation(repository, 'blame', 'preferred', { query: { ref, path: repository.path } }),
    };
  }),
  credential_not_found: onRepository(async (repository) => ({
    'delete Git credential': await callOperation(repository, 'delete Git credential', 'preferred', {
      params: { id: 'none' },
    }),
    'delete Git credential by body': await callOperation(repository, 'delete Git credential', 'v1', {
      json: { id: 'none' },
    }),
  })),
  hosting_project_not_found: onRepository(async (repository) => ({
    'list deployments': withHosting(await callOperation(repository, 'list deployments', 'preferred', {})),
    'get deployment': withHosting(
      await callOperation(repository, 'get deployment', 'preferred', { params: { id: 'none' } }),
    ),
  })),
  deployment_project_name_in_use: onRepository(async (repository) => {
    const json = { deployment: { project_name: repository.unusedName('project') } };
    expectSuccess(withHosting(await callOperation(repository, 'update repository', 'preferred', { json })));
    const repo = await reserveName(repository.t);
    return { 'create repository': await callOperation(repository, 'create repository', 'preferred', { repo, json }) };
  }),
  forge_app_not_configured: async (t) => ({
    'POST /api/v1/repos': await inOrganization(t, { forgeApps: 0 }, (inner) =>
      inner.post('/api/v1/repos', { as: repoWriter(inner.uniqueName()), json: { base_repo: ABSENT_UPSTREAM } }),
    ),
  }),
  hosting_not_enabled: async (t) => {
    const update = onRepository(async (repository) => {
      const json = { deployment: { project_name: repository.unusedName('project').toLowerCase() } };
      return { 'update repository': await callOperation(repository, 'update repository', 'preferred', { json }) };
    });
    return hasNamespaces(t.target) ? inOrganization(t, { hosting: 'off' }, update) : update(t);
  },
  repository_not_found: async (t) => {
    const as = repoWriter(t.uniqueName());
    return {
      'update repository': await t.request('PATCH', repositoryPath(as.repo ?? ''), { as, json: {} }),
      'delete repository': await t.request('DELETE', repositoryPath(as.repo ?? ''), { as }),
    };
  },
};

/**
 * Sends requests in a namespace of the emulator (isolated state) whose organization has these settings. Returns the
 * result of `ask`.
 */
export async function inOrganization<Result>(
  t: RuleContext,
  settings: object,
  ask: (inner: RuleContext) => Promise<Result>,
): Promise<Result> {
  return inNamespace(t, {}, async (inner) => {
    await changeState(inner, { organizations: { [inner.target.org]: settings } });
    return ask(inner);
  });
}

/** Skips the rule if the response shows that the organization has no hosting. */
export function withHosting(response: ApiResponse): ApiResponse {
  // Without hosting, the response is an error about hosting, or the refusal of a token with hosting scopes.
  if (response.status === 403 && response.code !== 'insufficient_scope')
    throw new Skip('the organization has no hosting');
  return response;
}

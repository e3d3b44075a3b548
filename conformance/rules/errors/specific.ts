import { commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { createRepo, getRepo, grep, repositoryPath } from '../../api/requests.js';
import { changeState } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import { isForgeCode, SPECIFIC, type SpecificCode } from '../../check/codes.js';
import {
  expectCode,
  expectMatch,
  expectOneOf,
  expectOther,
  expectSame,
  expectSuccess,
  expectTrue,
  isMember,
  RETRY_AFTER,
} from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, reserveName, sampleRepository } from '../../fixtures/repositories.js';
import { headerOf } from '../../http/exchange.js';
import type { AmbiguityCode } from '../../specification/ambiguities.js';
import { callOperation } from '../companion/call-operation.js';
import type { OperationRequest } from '../companion/operation.js';
import { MERGER } from '../companion/operations.js';
import { FAMILIES, type Family, TestRepository, UNREACHABLE_UPSTREAM } from '../companion/test-repository.js';
import { withFault } from '../documented-operations.js';
import { defineRules, type Reach, type Rule, type RuleRow } from '../rule.js';
import { forEachPlace, ofContent } from '../token-places.js';
import { ABSENT_UPSTREAM, inOrganization, OTHER_OPERATIONS, withHosting } from './other-operations.js';
import { problemOf } from './problems.js';

interface Provocation {
  readonly reach: Reach;
  readonly writes: Rule['writes'];
  /** Sends requests that cause the error code. Returns the responses; all of them must have this code. */
  readonly provoke: (t: RuleContext) => Promise<readonly ApiResponse[]>;
  /**
   * Tolerated responses, if the specification contradicts itself. The three elements are the code of the contradiction,
   * the name of the request in reports, and the responses such as `404 ref_not_found`.
   */
  readonly instead?: readonly [code: AmbiguityCode, where: string, members: readonly string[]];
  /** Clauses of the rule about this error code, besides that about further operations. */
  readonly clauses?: RuleRow['clauses'];
}

function viaRoute(provoke: (t: RuleContext) => Promise<ApiResponse>, writes = false): Provocation {
  return { reach: 'any', writes, provoke: async (t) => [await provoke(t)] };
}

function forced(code: string): Provocation {
  return { ...viaRoute((t) => withFault(t, 'repo', code)), reach: 'emulator' };
}

type Attempt = (repository: TestRepository, family: Family) => Promise<ApiResponse>;

/** Causes an error code through the routes of published clients. Each family of routes gets a new repository. */
function viaCompanion(
  attempt: Attempt,
  families: readonly Family[] = FAMILIES,
  clauses?: RuleRow['clauses'],
): Provocation {
  return {
    ...(clauses && { clauses }),
    reach: 'needs-setup',
    writes: true,
    provoke: async (t) => {
      t.needsCompanion();
      const responses: ApiResponse[] = [];
      for (const family of families) responses.push(await attempt(await TestRepository.create(t), family));
      return responses;
    },
  };
}

/**
 * Returns a function that sends the same request twice. The first response must be a success. The second is returned,
 * to be checked for the error code.
 */
function repeated(name: string, request: (repository: TestRepository) => Promise<OperationRequest>): Attempt {
  return async (repository, family) => {
    const same = await request(repository);
    expectSuccess(await callOperation(repository, name, family, same));
    return callOperation(repository, name, family, same);
  };
}

/** Requests a deployment for a repository without a hosting project. */
const deploy: Attempt = (repository) => callOperation(repository, 'create deployment', 'preferred', { json: {} });

const PROVOCATIONS: Readonly<Record<SpecificCode, Provocation>> = {
  authentication_unavailable: forced('authentication_unavailable'),
  insufficient_scope: viaRoute(async (t) => {
    const { name } = await sampleRepository(t);
    return grep(t, name, { query: { pattern: 'e' } }, { as: { repo: name, scopes: ['git:write'] } });
  }),
  repo_claim_missing: {
    ...viaRoute((t) => t.get('/api/v1/repo', { as: { scopes: ['git:read'] } })),
    instead: ['A03', 'no repo claim', ['400 repo_claim_missing', '403 forbidden']],
  },
  repo_name_mismatch: viaRoute((t) => createRepo(t, t.uniqueName(), { json: { repo_name: 'another' } }), true),
  route_not_found: {
    reach: 'any',
    writes: 'where-allowed',
    provoke: async (t) => {
      const { name: repo } = await sampleRepository(t);
      const responses: ApiResponse[] = [];
      const own = repositoryPath(repo);
      for (const family of ['/api', '/api/v1', '/api/v1/repos', own, `${own}/branches`]) {
        for (const method of t.target.write ? ['GET', 'POST', 'DELETE'] : ['GET']) {
          const as = { repo, scopes: ['git:read', 'git:write'] };
          responses.push(await t.request(method, `${family}/no/such/route`, { as }));
        }
      }
      return responses;
    },
  },
  repository_not_found: viaRoute((t) => getRepo(t, t.uniqueName())),
  repository_deleted: {
    ...viaCompanion(
      repeated('delete repository', async (repository) => ({ repo: await repository.createRepository() })),
    ),
    instead: ['A16', 'second delete', ['409 repository_deleted', '404 repository_not_found']],
  },
  repository_thawing: {
    ...forced('repository_thawing'),
    instead: ['A04', 'thawing, repo', ['409 repository_thawing', '503 service_unavailable']],
  },
  sync_in_progress: {
    ...viaRoute(async (t) => {
      const { name } = await groupRepository(t);
      return sendPack(t, name, packLines(t, { 'x.txt': 'x' }), { fault: 'sync_in_progress' });
    }, true),
    reach: 'emulator',
    instead: ['A05', 'syncing, commit-pack', ['409 sync_in_progress', '503 service_unavailable']],
  },
  upstream_already_configured: viaCompanion(
    repeated('create repository', async (repository) => ({
      repo: await reserveName(repository.t),
      json: { base_repo: UNREACHABLE_UPSTREAM },
    })),
  ),
  branch_not_found: {
    ...viaRoute(async (t) => {
      const { name } = await groupRepository(t);
      return sendPack(t, name, packLines(t, { 'x.txt': 'x' }, { target_branch: 'fresh', base_branch: 'nope' }));
    }, true),
    instead: ['A28', 'missing base branch', ['404 branch_not_found', '404 ref_not_found', '404 not_found']],
  },
  ref_not_found: {
    ...viaRoute(async (t) =>
      grep(t, (await sampleRepository(t)).name, { query: { pattern: 'e' }, ref: t.uniqueName() }),
    ),
    instead: ['A28', 'missing ref, grep', ['404 ref_not_found', '404 not_found', '404 branch_not_found']],
  },
  merge_conflict: viaCompanion(async (repository, family) => {
    const { t, name: repo } = repository;
    await commitFiles(t, repo, { 'README.md': 'theirs\n' }, { target_branch: 'theirs', base_branch: t.defaultBranch });
    await commitFiles(t, repo, { 'README.md': 'ours\n' });
    const json = { source_branch: 'theirs', target_branch: t.defaultBranch, strategy: 'merge', ...MERGER };
    return callOperation(repository, 'merge', family, { json });
  }),
  credential_not_found: viaCompanion((repository, family) => {
    const json = { password: 'p', ...(family === 'v1' ? { id: 'none' } : {}) };
    return callOperation(repository, 'update Git credential', family, { params: { id: 'none' }, json });
  }),
  credential_exists: viaCompanion(
    repeated('create Git credential', async (repository) => ({
      repo: repository.name,
      json: { username: 'u', password: 'p' },
    })),
  ),
  forge_app_not_configured: {
    reach: 'emulator',
    writes: true,
    clauses: { several: 'An organization with more than one application gets this code too.' },
    provoke: (t) =>
      inOrganization(t, { forgeApps: 0 }, async (inner) => {
        const create = () => createRepo(inner, inner.uniqueName(), { json: { base_repo: ABSENT_UPSTREAM } });
        const none = await create();
        await changeState(inner, { organizations: { [inner.target.org]: { forgeApps: 2 } } });
        return [none, await create()];
      }),
  },
  forge_repository_inaccessible: {
    ...viaCompanion(async (repository, family) =>
      callOperation(repository, 'create repository', family, {
        repo: await reserveName(repository.t),
        json: { base_repo: { ...ABSENT_UPSTREAM, auth: { auth_type: 'public' } } },
      }),
    ),
    reach: 'emulator',
  },
  hosting_not_enabled: {
    reach: 'needs-setup',
    writes: true,
    provoke: async (t) => {
      t.needsCompanion();
      // The request creates nothing, whether or not the organization has hosting, because the repository already
      // exists.
      const repo = (await sampleRepository(t)).name;
      const json = { deployment: {} };
      const response = await t.post('/api/repos', { as: { repo, scopes: ['repo:write'] }, json });
      if (response.status !== 409 && response.status >= 300) return [response];
      if (t.target.adminUrl === undefined) throw new Skip('the organization has hosting');
      return [await inOrganization(t, { hosting: 'off' }, (inner) => createRepo(inner, inner.uniqueName(), { json }))];
    },
  },
  hosting_project_not_found: viaCompanion(
    async (repository, family) => withHosting(await deploy(repository, family)),
    ['preferred'],
  ),
  deployment_not_found: viaCompanion(
    async (repository) => {
      await repository.ensureHosting();
      const id = await (await TestRepository.create(repository.t)).createDeployment();
      const foreign = await callOperation(repository, 'get deployment', 'preferred', { params: { id } });
      expectCode(foreign, 404, 'deployment_not_found');
      return callOperation(repository, 'get deployment', 'preferred', { params: { id: 'none' } });
    },
    ['preferred'],
    { 'other-repository': 'A deployment of another repository does not exist in this one.' },
  ),
  deployment_project_name_in_use: viaCompanion(
    async (repository, family) => {
      const json = { deployment: { project_name: repository.unusedName('project') } };
      const other = await TestRepository.create(repository.t);
      expectSuccess(withHosting(await callOperation(other, 'update repository', family, { json })));
      const own = await callOperation(other, 'update repository', family, { json });
      expectOther(own.code, 'deployment_project_name_in_use', 'a repository may keep its own project name');
      return callOperation(repository, 'update repository', family, { json });
    },
    FAMILIES,
    { own: 'The repository that has the project name does not get this code.' },
  ),
  idempotency_key_reused: viaCompanion(
    async (repository) => {
      const headers = { 'idempotency-key': repository.unusedName('key') };
      const create = 'create deployment';
      const ref = repository.branch;
      await repository.ensureHosting();
      await repository.ensureHosting();
      expectSuccess(await callOperation(repository, create, 'preferred', { headers, json: { ref } }));
      const again = await callOperation(repository, create, 'preferred', { headers, json: { ref } });
      expectOther(again.code, 'idempotency_key_reused', 'the same request may be repeated with its key');
      const json = { ref: await repository.createBranch() };
      const toOther = await callOperation(repository, create, 'preferred', { headers, json });
      expectCode(toOther, 422, 'idempotency_key_reused');
      return callOperation(repository, create, 'preferred', { headers, json: { ref, target: 'production' } });
    },
    ['preferred'],
    {
      same: 'The request that the key belongs to does not get this code if it is repeated.',
      ref: 'A request for another ref is a different request.',
    },
  ),
};

/**
 * Expects an error code about the external forge. Two differences are allowed (SPECIFICATION.md, A17): the code may
 * contain the forge's name instead of the word `forge`, and the status may be the one that the forge returned.
 */
function expectForgeCode(response: ApiResponse, code: string): void {
  expectSame(isForgeCode(response.code ?? ''), isForgeCode(code), `the code is ${code}, in the words of the forge`);
  expectTrue(response.status >= 400 && response.status < 500, 'the status is 412 or another 4xx', response.status);
}

/**
 * Causes an error code at additional operations and expects the permitted responses. `ways` are these responses; there
 * are several if the specification contradicts itself about the code.
 */
async function expectAtOthers(t: RuleContext, code: SpecificCode, ways: readonly string[]): Promise<void> {
  const provoke = OTHER_OPERATIONS[code];
  if (provoke === undefined || !t.target.companion || !t.target.write) return;
  for (const [name, response] of Object.entries(await provoke(t))) {
    if (isForgeCode(code) !== undefined) {
      expectForgeCode(response, code);
      continue;
    }
    const isRight = ways.some((way) => isMember(response, way));
    expectTrue(isRight, `${name} must respond with ${ways.join(' or ')}`, response.outcome);
  }
}

function specific(code: SpecificCode): RuleRow {
  const [status, meaning] = SPECIFIC[code];
  const { reach, writes, provoke, instead, clauses: own } = PROVOCATIONS[code];
  const operations = `Other operations respond with ${status} ${code} too.`;
  const clauses = OTHER_OPERATIONS[code] === undefined ? own : { ...own, operations };
  return {
    id: `err.specific.${code}`,
    says: `The code ${code} has the status ${status}: ${meaning}.`,
    ...(clauses && { clauses }),
    reach,
    // The requests of `OTHER_OPERATIONS` write, so they are tried only where the run may write.
    writes: OTHER_OPERATIONS[code] !== undefined && writes === false ? 'where-allowed' : writes,
    watch: (exchange) => {
      if (problemOf(exchange)?.code !== code) return undefined;
      const any4xx = code === 'forge_repository_inaccessible' && exchange.status >= 400 && exchange.status < 500;
      return exchange.status === status || any4xx || `${code} came with ${exchange.status}`;
    },
    check: async (t) => {
      for (const response of await provoke(t)) {
        if (instead !== undefined) t.tolerate(instead[0], instead[1], response, instead[2]);
        else if (isForgeCode(code) === undefined) expectCode(response, status, code);
        else expectForgeCode(response, code);
      }
      await expectAtOthers(t, code, instead?.[2] ?? [`${status} ${code}`]);
    },
  };
}

export const specificCodes = defineRules('Errors', 'specific-codes', [
  ...(Object.keys(SPECIFIC) as SpecificCode[]).map(specific),
  {
    id: 'err.thawing.retry-after',
    says: 'A repository_thawing response has Retry-After.',
    clauses: { 'every-operation': 'The refusal of any operation on a thawing repository has Retry-After.' },
    watch: (exchange) => {
      if (problemOf(exchange)?.code !== 'repository_thawing' || exchange.status !== 409) return undefined;
      const value = headerOf(exchange, 'retry-after');
      return RETRY_AFTER.test(value ?? '') || `Retry-After is ${value ?? 'absent'} in a 409 of ${exchange.path}`;
    },
    writes: 'where-allowed',
    reach: 'emulator',
    check: async (t) => {
      await forEachPlace(t, ofContent, async ({ place, ask }) => {
        const response = await ask({}, { fault: 'repository_thawing' });
        if (place.name === 'repo') {
          t.tolerate('A04', 'thawing, repo', response, ['409 repository_thawing', '503 service_unavailable']);
        }
        expectOneOf(response.status, [409, 503], 'the status must be 409 or 503');
        if (response.status === 503) return;
        expectMatch(response.header('retry-after'), RETRY_AFTER, 'Retry-After must be seconds or a date');
      });
    },
  },
  {
    id: 'err.forge-inaccessible.status',
    says: 'A forge_repository_inaccessible response has the status 412, or the 4xx status of the upstream.',
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      for (const response of await PROVOCATIONS.forge_repository_inaccessible.provoke(t)) {
        expectForgeCode(response, 'forge_repository_inaccessible');
        t.observe('status', response.status);
      }
    },
  },
]);

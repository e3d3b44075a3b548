import { reader, writer } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import type { SeededRepository } from '../../fixtures/repositories.js';
import { advertise, pushRefs, requestRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { callOperation } from '../companion/call-operation.js';
import type { Operation, OperationRequest } from '../companion/operation.js';
import { OPERATIONS } from '../companion/operations.js';
import { type Family, TestRepository } from '../companion/test-repository.js';
import { DOCUMENTED_ROUTES, requestLine } from '../documented-operations.js';

/** Request about one repository. It succeeds unless the repository's state, such as thawing, refuses it. */
export interface StateRequest {
  /** Name of the operation in reports. Requests with the same name must get the same response. */
  readonly name: string;
  /** Name of the rule's clause that the request checks. */
  readonly clause: string;
  readonly route: string;
  readonly writes: boolean;
  readonly isGit: boolean;
  /** True if errors of the operation have only a status, without an error code in the body. */
  readonly isCodeless: boolean;
  /** Name of the repository whose state decides about the request. */
  readonly repo: string;
  readonly send: (t: RuleContext) => Promise<ApiResponse>;
}

/** Names and clauses of the documented operations. The keys are the names in the table of all operations. */
const DOCUMENTED: Readonly<Record<string, readonly [name: string, clause: string]>> = {
  'get repository': ['repo', 'repository-metadata'],
  'get commit': ['commit', 'one-commit'],
  'read file': ['file', 'read-file'],
  archive: ['archive', 'archive'],
  grep: ['grep', 'search'],
  'file metadata': ['file metadata', 'file-metadata'],
  'commit-pack': ['commit-pack', 'commit-pack'],
  'restore-commit': ['restore', 'restore'],
  'reset-commits': ['reset', 'reset'],
  'add note': ['notes', 'notes'],
  'list branches': ['branches', 'branches'],
  'list commits': ['commits', 'commits'],
  'commit diff': ['diff', 'diff'],
};

/** Operations that do not concern one existing repository. */
const OTHERS = ['create repository', 'list repositories', 'organization metadata'];

/**
 * Option for requests that must be refused. It switches off the suite's own check that nothing changed, because the
 * rule compares the repository itself.
 */
const UNVIEWED = { mustSucceed: true } as const;

/**
 * Prepares one request for each operation on a repository. The repository must be active, because what the requests
 * need, such as tags, is created now. Includes the documented operations, those of Git, and those of published clients
 * if the target allows them. Leaves out operations that cannot be tried on the target.
 */
export async function prepareRequests(t: RuleContext, seeded: SeededRepository): Promise<readonly StateRequest[]> {
  const repository = new TestRepository(t, seeded);
  const requests: StateRequest[] = [];
  for (const operation of OPERATIONS) {
    for (const family of familiesOf(t, operation)) {
      const route = requestLine(operation, family);
      try {
        const request = await requestFor(repository, operation, family);
        const [name, clause] = DOCUMENTED[operation.name] ?? [operation.name, 'companion'];
        requests.push({
          name,
          clause: DOCUMENTED_ROUTES.has(route) ? clause : 'companion',
          route,
          writes: operation.scopes.some((scope) => scope.endsWith(':write')),
          isGit: false,
          isCodeless: operation.method === 'HEAD',
          repo: request.repo ?? repository.name,
          send: (t) => callOperation(new TestRepository(t, seeded), operation, family, { ...request, ...UNVIEWED }),
        });
      } catch (error) {
        if (!(error instanceof Skip)) throw error;
      }
    }
  }
  return [...requests, ...gitRequests(seeded)];
}

/**
 * Returns the families of routes (`preferred` or `v1`) through which an operation is tried: both if one of its routes
 * is documented, otherwise only `preferred`. Without `--companion`, only documented routes are tried.
 */
function familiesOf(t: RuleContext, operation: Operation): readonly Family[] {
  if (OTHERS.includes(operation.name)) return [];
  const families: Family[] = ['v1', 'preferred'];
  const documented = families.filter((family) => DOCUMENTED_ROUTES.has(requestLine(operation, family)));
  if (!t.target.companion) return documented;
  return documented.length === 0 ? ['preferred'] : families;
}

async function requestFor(repository: TestRepository, operation: Operation, family: Family): Promise<OperationRequest> {
  if (operation.name === 'delete repository') return {};
  return operation.request(repository, family);
}

function gitRequests({ name: repo, tip }: SeededRepository): readonly StateRequest[] {
  const path = gitPath(repo);
  const refs = '/{repo_name}.git/info/refs?service=';
  const common = { isGit: true, isCodeless: true, repo };
  return [
    {
      ...common,
      name: 'Git',
      clause: 'git-refs',
      route: `GET ${refs}git-upload-pack`,
      writes: false,
      send: (t) => advertise(t, path, reader(repo)),
    },
    {
      ...common,
      name: 'Git fetch',
      clause: 'git-fetch',
      route: 'POST /{repo_name}.git/git-upload-pack',
      writes: false,
      send: (t) => requestRefs(t, repo, reader(repo)),
    },
    {
      ...common,
      name: 'Git push refs',
      clause: 'git-push-refs',
      route: `GET ${refs}git-receive-pack`,
      writes: true,
      send: (t) => advertise(t, path, writer(repo), 'git-receive-pack'),
    },
    {
      ...common,
      name: 'Git push',
      clause: 'git-push',
      route: 'POST /{repo_name}.git/git-receive-pack',
      writes: true,
      send: (t) => pushRefs(t, repo, { 'refs/heads/pushed': tip }, writer(repo), UNVIEWED),
    },
  ];
}

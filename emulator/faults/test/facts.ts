import type { FaultedOperation } from '../operation-shape.js';
import type { RequestFacts } from '../request-facts.js';

/**
 * Operations for tests of faults (injected failures), so that these tests need not load the API. There is one operation
 * of each kind that faults distinguish.
 */
export const OPERATIONS: readonly FaultedOperation[] = [
  row('getRepository', 'Repositories', 'GET /api/v1/repo', {}),
  row('createBranch', 'Branches', 'POST /api/v1/repos/branches/create', { reads: 'json', effect: 'write' }),
  row('commitPack', 'Commits', 'POST /api/v1/repos/commit-pack', { reads: 'stream', effect: 'write' }),
  row('gitInfoRefs', 'Git', 'GET /{repo_name}.git/info/refs', { head: false }),
  row('gitUploadPack', 'Git', 'POST /{repo_name}.git/git-upload-pack', { reads: 'stream' }),
  row('gitReceivePack', 'Git', 'POST /{repo_name}.git/git-receive-pack', { reads: 'stream', effect: 'write' }),
  row('lfsBatch', 'Git', 'POST /{repo_name}.git/info/lfs/objects/batch', { reads: 'json' }),
];

function row(id: string, group: string, route: string, given: Partial<FaultedOperation>): FaultedOperation {
  const [method = '', path = ''] = route.split(' ');
  const scopes = [given.effect === 'write' ? 'git:write' : 'git:read'];
  return { id, group, subject: 'repository', effect: 'read', scopes, routes: [{ method, path }], ...given };
}

export function operationOf(id: string): FaultedOperation {
  return OPERATIONS.find((operation) => operation.id === id)!;
}

/** Returns the request's properties that faults (injected failures) can depend on. `given` replaces default values. */
export function requestFacts(given: Partial<RequestFacts> = {}): RequestFacts {
  return {
    id: 'req-1',
    operation: operationOf('getRepository'),
    organizationName: 'demo',
    repositoryName: 'team/app',
    verified: {
      claims: { sub: 'ada', scopes: ['git:read'] },
      kid: 'k1',
      key: { algorithm: 'ES256' },
      payload: { sub: 'ada', team: ['core'] },
    },
    method: 'GET',
    target: { query: 'limit=5' },
    bodyValues: [],
    gitHead: undefined,
    scenario: undefined,
    connection: 'connection-1',
    header: (name) => (name === 'user-agent' ? 'git/2.39' : undefined),
    stateRefusal: (code) => code,
    ...given,
  };
}

import type { FaultedOperation } from '../operation-shape.js';
import type { RequestFacts } from '../request-facts.js';

/** Operations of every shape, for tests of faults alone. */
export const OPERATIONS: readonly FaultedOperation[] = [
  { id: 'getRepository', group: 'Repositories', subject: 'repository' },
  { id: 'createBranch', group: 'Branches', subject: 'repository', reads: 'json' },
  { id: 'commitPack', group: 'Commits', subject: 'repository', reads: 'stream' },
  { id: 'gitInfoRefs', group: 'Git', subject: 'repository' },
  { id: 'gitUploadPack', group: 'Git', subject: 'repository', reads: 'stream' },
  { id: 'gitReceivePack', group: 'Git', subject: 'repository', reads: 'stream' },
  { id: 'lfsBatch', group: 'Git', subject: 'repository', reads: 'json' },
];

export function operationOf(id: string): FaultedOperation {
  return OPERATIONS.find((operation) => operation.id === id)!;
}

/** A request as faults see it. */
export function requestFacts(given: Partial<RequestFacts> = {}): RequestFacts {
  return {
    id: 'req-1',
    operation: operationOf('getRepository'),
    organization: 'demo',
    repository: 'team/app',
    token: { sub: 'ada', kid: 'k1', alg: 'ES256', scopes: ['git:read'], claims: { sub: 'ada', team: ['core'] } },
    method: 'GET',
    query: new URLSearchParams('limit=5'),
    body: undefined,
    git: undefined,
    scenario: undefined,
    connection: 'connection-1',
    header: (name) => (name === 'user-agent' ? 'git/2.39' : undefined),
    isInTheWay: () => true,
    ...given,
  };
}

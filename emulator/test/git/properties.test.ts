import fc from 'fast-check';
import t from 'tap';
import { operations } from '../../api/index.js';
import type { OperationId } from '../../config/operation-ids.js';
import { randomRequests } from '../concurrency/random-requests.js';
import { faultOf } from '../operations/documented-response.js';
import { sampleRuns } from '../sample.js';
import { type Service, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

// Sends random requests to every API operation. Each response must have a documented status and the operation's error
// format. Only successful requests may change state.

/**
 * Numbers of random requests per operation: in a complete test, and in a sample. `FRESH_RUNS` applies to the operations
 * in `FRESH`.
 */
const RUNS = [80, 20] as const;
const FRESH_RUNS = [15, 4] as const;
/**
 * Operations that change state on which later requests depend, sometimes in the background. Each run of such an
 * operation therefore gets a new emulator.
 */
const FRESH = new Set<OperationId>([
  'createRepository',
  'deleteRepository',
  'pullUpstream',
  'detachBase',
  'updateRepository',
]);
const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read', 'deployment:read', 'deployment:write'];

async function stage(): Promise<{ service: Service; shas: string[] }> {
  const upstreamHost = { github: 'http://127.0.0.1:1', gitlab: 'http://127.0.0.1:1' };
  const service = await startService({ upstreamHost });
  const first = await service.seed('team/app', { 'a.txt': 'alpha\nbeta\n', 'd/b.txt': 'alpha\n' });
  const second = await service.commit('team/app', { 'd/b.txt': 'gamma\n' });
  const third = await service.commit('team/app', { 'c.txt': 'c' }, { target_branch: 'topic', base_branch: 'main' });
  await service.call('POST', '/api/v1/repos/tags', { json: { name: 'v1', target: first } });
  await service.call('POST', '/api/v1/repos/notes', { json: { sha: first, note: 'noted' } });
  return { service, shas: [first, second.json.commit.commit_sha, third.json.commit.commit_sha] };
}

for (const operation of operations.filter(({ group }) => group !== 'Git')) {
  t.test(`${operation.id}: any request`, async (t) => {
    let { service, shas } = await stage();
    t.teardown(() => service.emulator.close({ graceMs: 0 }));
    const seen = new Map<number, number>();
    const requests = randomRequests(operation, 'team/app', shas);
    const isFresh = FRESH.has(operation.id);
    let used = 0;
    const property = fc.asyncProperty(requests, async ({ target, body }) => {
      if (isFresh && used++ > 0) {
        await service.emulator.close({ graceMs: 0 });
        ({ service, shas } = await stage());
      }
      const { world } = service;
      const before = stateDigest(world);
      const repo = operation.subject === 'new-repository' ? 'team/new' : 'team/app';
      const response = await service.call(operation.routes[0]!.method, target, {
        repo,
        scopes: SCOPES,
        ...(body === undefined ? {} : { body }),
      });
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
      const fault = faultOf(operation, response);
      if (fault !== undefined) throw new Error(`${fault}: ${response.status} ${response.text.slice(0, 400)}`);
      const isChange = response.status < 300 && operation.effect !== 'read';
      if (!isChange && stateDigest(world) !== before) throw new Error(`${response.status} changed the state`);
      if (Reflect.get({}, 'polluted') !== undefined) throw new Error('Object.prototype was changed');
    });
    const [all, max] = isFresh ? FRESH_RUNS : RUNS;
    const outcome = await fc.check(property, sampleRuns(t, { numRuns: all, seed: 7 }, max));
    t.notOk(
      outcome.failed,
      outcome.failed ? String(fc.defaultReportMessage(outcome)).slice(0, 2000) : JSON.stringify([...seen]),
    );
  });
}

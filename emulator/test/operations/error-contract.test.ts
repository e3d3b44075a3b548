import t from 'tap';
import { operations } from '../../api/index.js';
import { writeOpenApi } from '../../api/openapi.js';
import type { Operation } from '../../operation/operation.js';
import { runSync } from '../../schedule/steps.js';
import { type CallOptions, type Service, startService } from '../service.js';
import { isWorded, LFS_TYPE } from './worded-response.js';

// Tests requests that are refused before the operation's handler runs, because of the token or the repository's state.
// Each route must respond with the documented code in the operation's error format.

const EVERY_SCOPE = ['git:read', 'git:write', 'repo:write', 'org:read', 'deployment:read', 'deployment:write'];

interface Refusal {
  readonly code: string;
  readonly status: number;
  /** Returns true if the operation refuses requests for this reason. The test skips the other operations. */
  readonly of: (operation: Operation) => boolean;
  readonly options: (service: Service, operation: Operation) => CallOptions | Promise<CallOptions>;
  /** Expected status and code, by operation id, for operations that document a different response to this refusal. */
  readonly except?: Readonly<Record<string, readonly [status: number, code: string]>>;
}

const every = () => true;
const ofRepository = ({ subject }: Operation) => subject === 'repository';
const busy = [503, 'service_unavailable'] as const;

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'without a credential': { code: 'unauthorized', status: 401, of: every, options: () => ({ token: null }) },
  'with a token that is none': { code: 'forbidden', status: 403, of: every, options: () => ({ token: 'x.y.z' }) },
  'without the repo claim': {
    code: 'repo_claim_missing',
    status: 400,
    of: every,
    options: async (service) => ({ token: await service.token({ scopes: EVERY_SCOPE }) }),
  },
  'without the scope': {
    code: 'insufficient_scope',
    status: 403,
    of: every,
    options: (_, { scopes }) => ({ scopes: EVERY_SCOPE.filter((scope) => scope !== scopes.at(-1)) }),
  },
  'of a caller with too many requests': {
    code: 'rate_limited',
    status: 429,
    of: every,
    options: () => ({ scopes: EVERY_SCOPE, headers: { 'x-emulator-fault': 'rate_limited' } }),
  },
  'for a repository that is not there': {
    code: 'repository_not_found',
    status: 404,
    of: ofRepository,
    options: () => ({ scopes: EVERY_SCOPE, repo: 'team/none' }),
  },
  'for a repository in cold storage': {
    code: 'repository_thawing',
    status: 409,
    of: ofRepository,
    options: () => ({ scopes: EVERY_SCOPE, headers: { 'x-emulator-fault': 'repository_thawing' } }),
    except: { fileMetadata: busy },
  },
  'for a repository in its first sync': {
    code: 'sync_in_progress',
    status: 409,
    of: (operation) => ofRepository(operation) && isHeldUpBySync(operation),
    options: () => ({ scopes: EVERY_SCOPE, headers: { 'x-emulator-fault': 'sync_in_progress' } }),
    except: { fileMetadata: busy, grep: busy },
  },
};

function isHeldUpBySync({ id, effect }: Operation): boolean {
  if (['fileMetadata', 'grep'].includes(id)) return true;
  return effect !== 'read' && !/Credential/.test(id);
}

const document = runSync(writeOpenApi(operations, 'http://127.0.0.1:8080')) as {
  paths: Record<string, Record<string, { responses: Record<string, { description: string; content?: object }> }>>;
};

t.test('the OpenAPI document describes every error of an operation in its error format', async (t) => {
  for (const operation of operations) {
    for (const { path, method } of operation.routes) {
      const { responses } = document.paths[path]![method.toLowerCase()]!;
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400 || operation.replies[Number(status)] !== undefined) continue;
        const short =
          operation.dialect === 'error' && status !== '429' ? 'application/json' : 'application/problem+json';
        const type = { git: 'text/plain', lfs: LFS_TYPE, error: short, result: short, problem: short };
        t.same(Object.keys(content ?? {}), [type[operation.dialect ?? 'problem']], `${path} ${status}`);
      }
    }
  }
});

t.test('every refusal has the error format of its operation, on every route', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  await service.seed('team/app');
  for (const [how, refusal] of Object.entries(REFUSALS)) {
    await t.test(how, async (t) => {
      for (const operation of operations.filter(refusal.of)) {
        const [status, code] = refusal.except?.[operation.id] ?? [refusal.status, refusal.code];
        for (const { method, path } of operation.routes) {
          const what = `${method} ${path}`;
          const options = await refusal.options(service, operation);
          const repo =
            operation.group === 'Git' ? (options.repo ?? 'team/app') : encodeURIComponent(options.repo ?? 'team/app');
          const response = await service.call(
            method,
            path.replace('{repo_name}', repo).replace(/\{\w+\}/, 'x'),
            options,
          );
          t.equal(response.status, status, `${what}: ${response.text.slice(0, 200)}`);
          t.ok(
            isWorded(operation, response, status, code),
            `${what}: ${response.headers['content-type']} ${response.text}`,
          );
          const shown = document.paths[path]![method.toLowerCase()]!.responses[status];
          t.match(shown?.description ?? '', `\`${code}\``, `${what}: in the document`);
        }
      }
    });
  }
});

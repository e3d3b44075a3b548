import t from 'tap';
import { errorCodesOf } from '../../api/error-codes.js';
import { operations } from '../../api/index.js';
import { DEFAULT_VARIANTS } from '../../config/variants.js';
import { type ProblemCode, problemCodes } from '../../http/problem.js';
import type { Operation } from '../../operation/operation.js';
import { type RepositoryState, refusalOf } from '../../repositories/lifecycle.js';
import { pushBody } from '../git/raw-push.js';
import { EVERY_SCOPE, makeFixture, ROWS, send, stage } from '../operations/routes/fixture.js';
import type { Fixture, RouteRow } from '../operations/routes/row.js';
import { isWorded, LFS_TYPE } from '../operations/worded-response.js';
import { type CallOptions, packBody, type Service, type ServiceResponse } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

// Tests every error code as a fault of every operation. The response must have the operation's error format and the
// code's headers. A fault before the handler must leave no effects of the request, and a fault after the handler must
// leave them in place.

const STATUS = new Map(problemCodes().map(({ code, status }) => [code, status]));
const STATES: Readonly<Partial<Record<ProblemCode, RepositoryState>>> = {
  repository_thawing: 'thawing',
  sync_in_progress: 'syncing',
  repository_deleted: 'deleted',
};

/** Error codes that depend on a setting of the organization. Only operations that check the setting can return them. */
const OF_SOME: readonly ProblemCode[] = ['hosting_not_enabled', 'forge_app_not_configured'];

/**
 * Returns the error code that an operation sends if a fault asks for `code`. It can differ from `code`, because some
 * operations report a repository state in their own way. Undefined if the operation cannot send `code`.
 */
function expected(operation: Operation, code: ProblemCode): ProblemCode | undefined {
  const state = STATES[code];
  if (OF_SOME.includes(code) && !operation.errors.includes(code)) return undefined;
  if (!state) return code;
  // The handler of such an operation finds the repository itself. Its error codes are therefore listed in the
  // operation's row.
  if (operation.subject !== 'repository') return operation.errors.includes(code) ? code : undefined;
  const effect = operation.id in WRITING ? 'write' : operation.effect;
  return refusalOf(state, { id: operation.id, effect }, DEFAULT_VARIANTS);
}

/** Requests that write, for operations that only sometimes write. */
const WRITING: Readonly<Record<string, readonly [query: string, options: CallOptions]>> = {
  gitInfoRefs: ['?service=git-receive-pack', {}],
  lfsBatch: ['', { json: { operation: 'upload', objects: [] } }],
};

function isAnswer(operation: Operation, response: ServiceResponse, code: ProblemCode): boolean {
  const status = STATUS.get(code)!;
  if (operation.dialect !== 'result' || !operation.errors.includes(code)) {
    return isWorded(operation, response, status, code);
  }
  return response.json.commit === null && response.json.result.success === false && response.json.result.message !== '';
}

/** Returns the names of the headers that are wrong in an error response with this code. */
function headerMistakes(code: ProblemCode, { headers }: ServiceResponse): string[] {
  const waits = ['rate_limited', 'service_unavailable', 'repository_thawing', 'sync_in_progress'].includes(code);
  const wrong: string[] = [];
  if (headers['retry-after'] !== (waits ? '1' : undefined)) wrong.push('Retry-After');
  if (headers.ratelimit !== (code === 'rate_limited' ? '"default";r=0;t=1' : undefined)) wrong.push('RateLimit');
  if ((headers['www-authenticate'] !== undefined) !== (code === 'unauthorized')) wrong.push('WWW-Authenticate');
  if ((headers.allow !== undefined) !== (code === 'method_not_allowed')) wrong.push('Allow');
  return wrong;
}

t.test('every operation returns every code by a fault', async (t) => {
  const service = await stage(t);
  await service.seed('team/app');
  const start = service.emulator.requests().at(-1)!.id;
  for (const operation of operations) {
    const { method, path } = operation.routes[0]!;
    const repo = operation.group === 'Git' ? 'team/app' : 'team%2Fapp';
    const [query, written] = WRITING[operation.id] ?? ['', {}];
    const target = path.replace('{repo_name}', repo).replace(/\{\w+\}/, 'x') + query;
    const before = stateDigest(service.world);
    const met: ProblemCode[] = [];
    const wrong: string[] = [];
    for (const { code } of problemCodes()) {
      const answered = expected(operation, code);
      if (answered === undefined) continue;
      met.push(answered);
      const headers = { 'x-emulator-fault': code, ...(written.json !== undefined && { 'content-type': LFS_TYPE }) };
      const response = await service.call(method, target, { scopes: EVERY_SCOPE, ...written, headers });
      const isRight =
        response.status === STATUS.get(answered) &&
        isAnswer(operation, response, answered) &&
        response.headers['x-emulator-fault-fired'] === code;
      if (!isRight) wrong.push(`${code}: ${response.status} ${JSON.stringify(response.headers)} ${response.text}`);
      wrong.push(...headerMistakes(answered, response).map((mistake) => `${code}: ${mistake}`));
    }
    t.strictSame(wrong, [], `${operation.id}: ${met.length} codes`);
    t.strictSame(
      service.emulator
        .requests({ operation: operation.id, after: start })
        .map(({ origin, code }) => [origin.split(':')[0], code]),
      met.map((code) => ['injected', code]),
      `${operation.id}: the journal`,
    );
    t.strictSame(
      [...errorCodesOf(operation)].filter((code) => !met.includes(code)),
      [],
      `${operation.id}: every code that it lists`,
    );
    t.equal(stateDigest(service.world), before, `${operation.id}: nothing was done`);
  }
});

t.test('a state code is refused for operations that never return it', async (t) => {
  const service = await stage(t);
  await service.seed('team/app');
  const refused = { status: 400, json: { code: 'bad_request' } };
  for (const code of OF_SOME) {
    for (const { id, errors, routes, group, dialect } of operations) {
      const isTold = errors.includes(code);
      const { method, path } = routes[0]!;
      const target = path.replace('{repo_name}', group === 'Git' ? 'team/app' : 'team%2Fapp').replace(/\{\w+\}/, 'x');
      const response = await service.call(method, target, {
        scopes: EVERY_SCOPE,
        headers: { 'x-emulator-fault': code },
      });
      const isRefused = response.status === 400 && /X-Emulator-Fault: .* never returns/.test(response.text);
      t.equal(isRefused, !isTold, `${id} ${code}: ${response.text}`);
      if (!isTold) t.equal(response.headers['x-emulator-fault-fired'], undefined, `${id} ${dialect}`);
      const set = () => service.emulator.fault({ match: { op: id }, do: { error: { code } } });
      if (isTold) await set().remove();
      else t.throws(set, { message: new RegExp(`${id} never returns ${code}`) });
    }
    const admin = { token: null, headers: { 'content-type': 'application/json' } };
    const some = { ...admin, json: { spec: code, match: { op: 'list*' } } };
    const response = await service.call('POST', '/_emulator/faults', some);
    t.equal(response.status, code === 'hosting_not_enabled' ? 201 : 400, `${code}: of lists those of deployments can`);
    service.emulator.fault(code);
    t.equal((await service.call('GET', '/api/v1/repo')).status, 200, 'for all it meets those that can');
    const create = await service.call('POST', '/api/repos', { repo: code });
    t.match(create, { json: { code } });
    await service.emulator.reset();
    await service.seed('team/app');
  }
  t.match(
    await service.call('POST', '/_emulator/faults', {
      token: null,
      json: { spec: 'hosting_not_enabled', match: { op: 'gitInfoRefs' } },
    }),
    refused,
  );
});

t.test('a fault with a state code does not fire if the state allows the operation', async (t) => {
  const service = await stage(t);
  await service.seed('team/app');
  for (const operation of operations) {
    for (const code of Object.keys(STATES) as ProblemCode[]) {
      if (expected(operation, code) !== undefined || operation.effect !== 'read' || operation.id in WRITING) continue;
      const { method, path } = operation.routes[0]!;
      const target = path.replace('{repo_name}', operation.group === 'Git' ? 'team/app' : 'team%2Fapp');
      const ask = (headers: Record<string, string>) => service.call(method, target, { scopes: EVERY_SCOPE, headers });
      const plain = await ask({});
      const touched = await ask({ 'x-emulator-fault': code });
      t.equal(touched.status, plain.status, `${operation.id} ${code}`);
      t.equal(touched.headers['x-emulator-fault-fired'], undefined, `${operation.id} ${code}`);
      const [entry] = service.emulator.requests().slice(-1);
      const reason = `${code} did not fire: the state of the repository allows ${operation.id}`;
      t.ok(entry!.why.includes(reason), entry!.why.join('; '));
    }
  }
});

/** Write requests for operations whose row in the route table has none, or only requests that change nothing. */
const OTHER_WRITES: Readonly<Record<string, (fixture: Fixture) => [string, string, CallOptions]>> = {
  updateRepository: ({ name }) => ['PATCH', `/api/repos/${name}`, { json: { default_branch: 'topic' } }],
  gitReceivePack: ({ name, tip }) => [
    'POST',
    `/${name}.git/git-receive-pack`,
    {
      body: pushBody([{ ref: 'refs/heads/pushed', old: '0'.repeat(40), new: tip }]),
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
    },
  ],
  lfsUploadObject: ({ name }) => [
    'PUT',
    `/${name}.git/info/lfs/objects/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824`,
    { body: 'hello' },
  ],
  lfsCreateLock: ({ name }) => [
    'POST',
    `/${name}.git/info/lfs/locks`,
    { json: { path: 'a' }, headers: { 'content-type': 'application/vnd.git-lfs+json' } },
  ],
  createWebhook: () => ['POST', '/api/v1/webhooks', { json: { url: 'http://127.0.0.1:1/', events: ['push'] } }],
};
/** Ids of the operations that this test skips. They change no stored state, or need an earlier write. */
const NOT_TRIED = ['pullUpstream', 'lfsUnlock', 'deleteWebhook'];

function rowOf({ routes }: Operation): RouteRow | undefined {
  const paths = routes.map(({ method, path }) => `${method} ${path}`);
  return Object.values(ROWS).find(
    ({ method, ok, routes: [first] }) => ok < 400 && paths.includes(`${method} ${first}`),
  );
}

async function write(
  service: Service,
  operation: Operation,
  fixture: Fixture,
  fault: string,
): Promise<ServiceResponse> {
  const headers = { 'x-emulator-fault': fault };
  const row = rowOf(operation);
  if (row && !(operation.id in OTHER_WRITES)) {
    const sent = row.sends.at(-1)!(fixture);
    return send(service, row, row.routes[0]!, fixture, { ...sent, headers: { ...sent.headers, ...headers } });
  }
  const [method, target, options] = OTHER_WRITES[operation.id]!(fixture);
  const all = { repo: fixture.name, scopes: EVERY_SCOPE, ...options, headers: { ...options.headers, ...headers } };
  return service.call(method, target, all);
}

t.test('a fault after the handler leaves the effect of the request', async (t) => {
  const service = await stage(t);
  const writes = operations.filter(({ id, effect }) => effect !== 'read' && !NOT_TRIED.includes(id));
  for (const [index, operation] of writes.entries()) {
    const fixture = await makeFixture(service, `copy${index}`);
    const before = stateDigest(service.world);
    const refused = await write(service, operation, fixture, 'internal_error@before');
    t.match(refused, { status: 500, headers: { 'x-emulator-fault-fired': 'internal_error' } }, operation.id);
    t.equal(stateDigest(service.world), before, `${operation.id}: before, nothing`);
    const lost = await write(service, operation, fixture, 'internal_error@after');
    t.equal(lost.status, 500, `${operation.id}: ${lost.text.slice(0, 200)}`);
    t.equal(lost.headers['x-emulator-fault-fired'], 'internal_error-2', operation.id);
    t.not(stateDigest(service.world), before, `${operation.id}: after, all of it`);
  }
});

t.test('every code, after a commit', async (t) => {
  const service = await stage(t);
  await service.seed('team/app');
  const operation = operations.find(({ id }) => id === 'commitPack')!;
  for (const [index, { code }] of problemCodes().entries()) {
    const answered = expected(operation, code);
    if (answered === undefined) continue;
    const body = packBody({ [`f${index}`]: code });
    const headers = { 'x-emulator-fault': `${code}@after` };
    const response = await service.call('POST', '/api/v1/repos/commit-pack', { body, headers });
    const isRight = response.status === STATUS.get(answered) && isAnswer(operation, response, answered);
    t.ok(isRight, `${code}: ${response.status} ${response.text.slice(0, 200)}`);
    const read = await service.call('GET', `/api/v1/repos/file?path=f${index}`);
    t.equal(read.text, code, `${code}: the commit is there`);
  }
});

t.test('a response after the handler is replaced only if the request had an effect', async (t) => {
  const service = await stage(t);
  await service.seed('team/app');
  const headers = { 'x-emulator-fault': 'internal_error*1@after' };
  const ask = (metadata: object) =>
    service.call('POST', '/api/v1/repos/commit-pack', { body: packBody({ a: 'a' }, { ...metadata }), headers });
  t.equal((await ask({ expected_head_sha: '1'.repeat(40) })).status, 409, 'refused by the handler');
  const author = { name: 'Ada', email: 'ada@example.com' };
  const { json } = await service.call('GET', '/api/v1/repos/commit?sha=main');
  const metadata = { target_branch: 'main', target_commit_sha: json.commit.sha, author };
  const restore = await service.call('POST', '/api/v1/repos/restore-commit', { json: { metadata }, headers });
  t.match(
    restore,
    { status: 409, json: { result: { success: false } } },
    'answered by it, that nothing was to be done',
  );
  t.equal((await ask({})).status, 500, 'the fault was still there');
  t.equal((await ask({})).status, 201);
  service.emulator.state.change({ variants: { restoreNoop: '201' } });
  const { json: tip } = await service.call('GET', '/api/v1/repos/commit?sha=main');
  const noop = { ...metadata, target_commit_sha: tip.commit.sha };
  const again = { 'x-emulator-fault': 'bad_gateway@after' };
  t.match(await service.call('POST', '/api/v1/repos/restore-commit', { json: { metadata: noop }, headers: again }), {
    status: 201,
    json: { result: { success: false } },
  });
});

t.test('the response to a push is lost only if a ref was accepted', async (t) => {
  const service = await stage(t);
  const sha = await service.seed('team/app');
  const ZERO = '0'.repeat(40);
  const lost = service.emulator.fault({
    match: { op: 'gitReceivePack' },
    at: 'after',
    do: { error: { code: 'bad_gateway' } },
  });
  const push = async (commands: Parameters<typeof pushBody>[0], options: CallOptions & { pack?: Buffer } = {}) => {
    const { pack, headers, ...rest } = options;
    const body = pushBody(commands, pack, 'report-status atomic');
    const type = { 'content-type': 'application/x-git-receive-pack-request' };
    return service.call('POST', '/team/app.git/git-receive-pack', { body, headers: { ...type, ...headers }, ...rest });
  };
  const wrong = { ref: 'refs/heads/main', old: '1'.repeat(40), new: sha };
  const right = { ref: 'refs/heads/next', old: ZERO, new: sha };
  const ng = { 'x-emulator-fault': 'ng;ref=refs/heads/next' };
  const bound = await service.token({ repo: 'team/app', claims: { ops: ['no-push'] } });
  const refused: [what: string, answer: Promise<ServiceResponse>][] = [
    ['a tip that is another', push([wrong])],
    ['several', push([wrong, { ...wrong, ref: 'refs/heads/other' }])],
    ['one of an atomic push', push([wrong, right])],
    ['a policy', push([right], { token: bound })],
    ['a pack that is none', push([right], { pack: Buffer.from('PACK') })],
    ['a report that was asked for', push([right], { headers: ng })],
    ['no command', push([])],
  ];
  for (const [what, response] of refused) t.equal((await response).status, 200, what);
  t.equal(lost.fired, 0);
  t.equal((await push([right])).status, 502, 'one that was accepted');
  t.equal((await push([{ ...right, old: sha }])).status, 502, 'one that leaves its ref where it is');
  t.equal(lost.fired, 2);
});

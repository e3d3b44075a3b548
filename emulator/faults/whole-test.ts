import type { Fault } from './fault.js';
import { matchesGlob } from './glob.js';
import { codeOf, dialectOf, kindNameOf, stageOf } from './kinds/index.js';
import { valueAt } from './member.js';
import { MEMBERS } from './members.js';
import type { FaultedOperation } from './operation-shape.js';
import { stagesOf } from './request-shape.js';
import type { Stage } from './stage.js';

/**
 * Generates the source code of a test (`node:test`) for a given fault. The test injects the fault and sends a request
 * for which it fires. The fault editor shows the test for copying.
 */

/**
 * Maximum number of requests that a generated test sends before the fault fires. A fault with a larger `skip` gets no
 * test.
 */
const MAX_SKIPPED = 20;

/**
 * Stages that only successful requests reach, because the operation has then been carried out. To reach them, a
 * generated test needs a request that succeeds.
 */
const SERVED: readonly Stage[] = ['after', 'git.receive', 'git.report'];

/** Query and body of a successful request, by operation id. Generated tests use them. */
const SERVED_REQUESTS: Readonly<Record<string, { readonly query?: string; readonly body?: string }>> = {
  listRepositories: {},
  getRepository: {},
  deleteRepository: {},
  detachBase: {},
  getOrganization: {},
  listBranches: {},
  listCommits: {},
  listFiles: {},
  fileMetadata: {},
  listTags: {},
  listNotesRefs: {},
  listWebhooks: {},
  archive: { body: '{}' },
  getBranch: { query: '?name=main' },
  getCommit: { query: '?sha=main' },
  readFile: { query: '?path=a.txt' },
  blame: { query: '?path=a.txt' },
  grep: { body: '{"pattern":"a"}' },
  updateRepository: { body: '{"default_branch":"main"}' },
  createCredential: { body: '{"username":"ada","password":"secret"}' },
  createBranch: { body: '{"base_ref":"main","target_branch":"topic"}' },
  lfsListLocks: {},
  lfsVerifyLocks: { body: '{}' },
};

/** Members of a fault for which a test can be generated. A fault with any other member gets no test. */
const MADE_UP: readonly string[] = [
  ...['match.op', 'match.repo', 'match.token.sub', 'match.git.ref', 'match.http.method'],
  ...['when.skip', 'when.times', 'note', 'priority', 'ttl'],
];

const BY_HAND = 'Copy the TypeScript line above into a test whose client sends a request';

/**
 * Fault written for copying. Either `text`, or `why`: the reason why this form cannot express the fault. `note` is
 * advice for its use.
 */
export interface Written {
  readonly text?: string;
  readonly why?: string;
  readonly note?: string;
}

/**
 * Returns the source code of a test with the fault, or the reason why no test can be generated. `literal` is the fault
 * as a TypeScript literal.
 */
export function wholeTest(fault: Fault, literal: string, operations: readonly FaultedOperation[]): Written {
  const { match = {}, when = {} } = fault;
  const { skip = 0 } = when;
  const [action] = [fault.do ?? []].flat();
  const names = namesIn(fault);
  const isMadeUp = MEMBERS.every(({ path }) => MADE_UP.includes(path) || valueAt(fault, path.split('.')) === undefined);
  if (!action || !isMadeUp || !Object.values(names).every((name) => /^[A-Za-z0-9][\w./-]*$/.test(name))) {
    return { why: `${BY_HAND}.` };
  }
  if ('tls' in action) return { why: 'The test would need an emulator that serves HTTPS.' };
  if (skip > MAX_SKIPPED) return { why: `The test would need ${skip} requests before the fault fires.` };
  const globs = [match.op ?? ['getRepository', 'gitInfoRefs', 'gitUploadPack', 'gitReceivePack']].flat();
  const stageAt = (operation: FaultedOperation) => {
    const stage = stageOf(action, fault.at, operation);
    return stage !== undefined && stagesOf(operation).has(stage) ? stage : undefined;
  };
  const operation = operations.find(
    (one) => globs.some((glob) => matchesGlob(glob, one.id)) && stageAt(one) !== undefined,
  );
  if (!operation) return { why: `${BY_HAND}.` };
  const isGit = dialectOf(operation) !== 'api';
  if (!isGit && SERVED.includes(stageAt(operation)!) && !Object.hasOwn(SERVED_REQUESTS, operation.id)) {
    return { why: `${BY_HAND} of ${operation.id}, and that succeeds.` };
  }
  if (skip > 0 && operation.id === 'gitReceivePack') {
    return { why: 'Copy the TypeScript line above into a test whose client pushes more than once.' };
  }
  const { method } = match.http ?? {};
  if (method !== undefined && !operation.routes.some((one) => one.method === method)) {
    return { why: `${operation.id} has no ${method}.` };
  }
  // A faulty response may take longer than a test waits, so the generated test limits the time of its request.
  const isSlow =
    'throttle' in action || 'slice' in action || 'latency' in action || ('cut' in action && action.cut.how === 'stall');
  const client = (isGit ? gitClient : fetchClient)({ operation, isSlow, ...names });
  const release =
    'hold' in action
      ? `const timer = setInterval(() => emulator.release('${action.hold}') && clearInterval(timer), 50);`
      : '';
  const lines = [
    ...client.imports,
    "import test from 'node:test';",
    "import { withEmulator } from 'repohost-emulator/node-test';",
    'const emulator = withEmulator();',
    `test('${isGit ? 'git' : operation.id} gets ${codeOf(action) ?? kindNameOf(action)}', async () => {`,
    `  await emulator.repository('${names.repo}').seed({ 'a.txt': 'a' });`,
    ...client.prepare,
    `  ${[`emulator.fault(${literal});`, release].join(' ').trim()}`,
    `  ${skip > 0 ? `for (let n = 0; n <= ${skip}; n++) ` : ''}await ${client.request}.catch(() => {});`,
    '});',
  ];
  return { text: lines.join('\n'), note: 'Run it with node --test; the test fails if the fault does not fire.' };
}

/**
 * Returns a repository, a user and a ref that match the conditions of the fault. Wildcards are replaced by letters.
 * Without a condition on it, the user is the default user of new tokens.
 */
function namesIn({ match = {}, do: action }: Fault): {
  readonly repo: string;
  readonly sub: string;
  readonly ref: string;
} {
  const [refused] = action && 'ng' in action ? Object.keys(action.ng.refs ?? {}) : [];
  const fill = (glob: string) => glob.replaceAll('*', 'app').replaceAll('?', 'a');
  return {
    repo: fill(match.repo ?? 'app'),
    sub: fill(match.token?.sub ?? 'emulator'),
    ref: fill(match.git?.ref ?? refused ?? 'refs/heads/topic'),
  };
}

interface ClientContext extends ReturnType<typeof namesIn> {
  readonly operation: FaultedOperation;
  readonly isSlow: boolean;
}

/**
 * Parts of a generated test that depend on its client, which is `fetch` or Git. They are import lines, lines before the
 * request, and the expression that sends the request.
 */
interface Client {
  readonly imports: readonly string[];
  readonly prepare: readonly string[];
  readonly request: string;
}

/** Returns the parts of a generated test that sends the request with `fetch`. */
function fetchClient({ operation, repo, sub, isSlow }: ClientContext): Client {
  const { id, group, routes, reads, scopes } = operation;
  const { method, path } = routes[0]!;
  const { query = '', body = '{}' } = SERVED_REQUESTS[id] ?? {};
  const hasBody = reads === 'json' || reads === 'stream';
  const name = group === 'Git' ? repo : encodeURIComponent(repo);
  const url = path.replace('{repo_name}', name).replaceAll(/\{\w+\}/g, 'x') + query;
  const type = hasBody ? `, 'content-type': 'application/${reads === 'stream' ? 'x-ndjson' : 'json'}'` : '';
  const token = `await emulator.token(${JSON.stringify({ repo, sub, scopes })})`;
  const credential = group === 'Git' ? `\`Basic \${btoa(\`t:\${${token}}\`)}\`` : `\`Bearer \${${token}}\``;
  const options = [
    `method: '${method}', headers`,
    ...(hasBody ? [`body: '${body}'`] : []),
    ...(isSlow ? ['signal: AbortSignal.timeout(1_000)'] : []),
  ];
  return {
    imports: [],
    prepare: [`  const headers = { authorization: ${credential}${type} };`],
    request: `fetch(\`\${emulator.baseUrl}${url}\`, { ${options.join(', ')} }).then((answer) => answer.text())`,
  };
}

/**
 * Returns the parts of a generated test that runs `git clone`. It also runs `git push` if the fault concerns pushes.
 */
function gitClient({ operation, repo, sub, ref, isSlow }: ClientContext): Client {
  const token = `await emulator.token(${JSON.stringify({ repo, sub })})`;
  const clone = `git clone -q http://t:\${${token}}@\${emulator.gitHost}/${repo}.git .`;
  const push = operation.id === 'gitReceivePack' ? ` && git push -q origin HEAD:${ref}` : '';
  return {
    imports: ["import { exec } from 'node:child_process';", "import { promisify } from 'node:util';"],
    prepare: [],
    request: `promisify(exec)(\`cd "$(mktemp -d)" && ${clone}${push}\`${isSlow ? ', { timeout: 3_000 }' : ''})`,
  };
}

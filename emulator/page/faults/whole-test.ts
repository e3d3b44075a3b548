import { isOfGit } from './offers.js';
import { actionsOf, type Fault, type FaultKind, type Members, type Operation, operationsOf } from './records.js';
import { specOf } from './spec-text.js';
import { inTemplate, literal } from './written.js';

/* A test of `node:test` that plans a fault, and makes a request that meets it. */

/** Most requests that a test makes before the one that is meant. */
const MOST_SKIPPED = 20;

/** Where an operation has been carried out: what it refuses does not come there. */
const SERVED = ['after', 'git.receive', 'git.report'];

/** Where what is asked for decides whether the effect is made: query and body of a request that is served. */
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

type Whole = { readonly text: string; readonly note: string } | { readonly why: string };

/** At most ten lines; or why there is none. */
export function wholeTest(fault: Fault, operations: readonly Operation[], kinds: readonly FaultKind[]): Whole {
  const skip = fault.when?.skip ?? 0;
  const names = namesIn(fault);
  if (typeof names === 'string') return { why: names };
  if (skip > MOST_SKIPPED) return { why: `The test would make ${skip} requests before it meets the fault.` };
  if (!isCertain(fault)) return { why: 'Whether a request meets it depends on more than one test can say.' };
  const globs = operationsOf(fault).map(globTest);
  const operation = operations.find(
    (one) =>
      (globs.length === 0 ? one.id === 'getRepository' || isOfGit(one.id) : globs.some((is) => is(one.id))) &&
      stageAt(fault, one, kinds) !== undefined,
  );
  if (!operation) return { why: 'Put the line above into a test whose client makes such a request.' };
  const isServed = SERVED.includes(stageAt(fault, operation, kinds)!) && !isOfGit(operation.id);
  if (isServed && !Object.hasOwn(SERVED_REQUESTS, operation.id)) {
    return { why: `Put the line above into a test whose client makes a request of ${operation.id} that succeeds.` };
  }
  if (skip > 0 && operation.id === 'gitReceivePack') {
    return { why: 'Put the line above into a test whose client pushes more than once.' };
  }
  const method = (fault.match?.http as Members | undefined)?.method;
  if (method !== undefined && !operation.routes.some((one) => one.method === method)) {
    return { why: `${operation.id} has no ${String(method)}.` };
  }
  return {
    text: isOfGit(operation.id) ? gitTest(fault, operation, names) : fetchTest(fault, operation, names),
    note: 'Run it with node --test; it fails when the fault does not fire.',
  };
}

interface Names {
  readonly repo: string;
  readonly sub: string | undefined;
  readonly ref: string;
}

/** What the request is to be called by; or why no request can be made up. */
function namesIn({ match = {}, ...fault }: Fault): Names | string {
  const { op: _op, repo, token = {}, git = {}, http = {}, ...others } = match as Record<string, Members>;
  const { sub, ...ofToken } = token!;
  const { ref, ...ofGit } = git!;
  const { method: _method, ...ofHttp } = http!;
  if ([others, ofToken, ofGit, ofHttp].some((members) => Object.keys(members).length > 0)) {
    return 'Put the line above into a test whose client makes such a request.';
  }
  const refused = (actionsOf(fault)[0]?.report as Members | undefined)?.refs as Members | undefined;
  const names = {
    repo: filled(repo as unknown as string | undefined) ?? 'app',
    sub: filled(sub as string | undefined),
    ref: filled((ref ?? Object.keys(refused ?? {})[0]) as string | undefined) ?? 'refs/heads/topic',
  };
  const isName = /^[A-Za-z0-9][\w./-]*$/;
  if (Object.values(names).some((name) => name !== undefined && !isName.test(name))) {
    return 'Put the line above into a test whose client makes such a request.';
  }
  return names;
}

/** A name that a glob fits. */
function filled(glob: string | undefined): string | undefined {
  return glob?.replaceAll('*', 'app').replaceAll('?', 'a');
}

function globTest(glob: string): (text: string) => boolean {
  const source = [...glob].map((one) => (one === '*' ? '.*' : one === '?' ? '.' : one.replace(/\W/, '\\$&')));
  const pattern = new RegExp(`^${source.join('')}$`);
  return (text) => pattern.test(text);
}

function isCertain({ when = {}, sequence, expect }: Fault): boolean {
  const { times: _times, skip: _skip, ...rest } = when;
  return sequence === undefined && expect === undefined && Object.keys(rest).length === 0;
}

function stageAt(fault: Fault, operation: Operation, kinds: readonly FaultKind[]): string | undefined {
  const [action] = Object.keys(actionsOf(fault)[0] ?? {});
  const { defaults = {} }: Partial<FaultKind> = kinds.find((kind) => kind.action === action) ?? {};
  const stage = fault.at ?? defaults[operation.id] ?? (isOfGit(operation.id) ? undefined : defaults.api);
  return stage === 'accept' || (stage !== undefined && operation.stages.includes(stage)) ? stage : undefined;
}

function planLine(fault: Fault): string {
  const { when: _when, at: _at, do: _do, ...rest } = fault;
  const spec = Object.keys(rest).length === 0 ? specOf(fault) : undefined;
  return `  emulator.fault(${literal(spec ?? fault)});`;
}

/** What the fault is called in the name of the test. */
function nameOf(fault: Fault): string {
  const [action = {}] = actionsOf(fault);
  const kind = Object.keys(action)[0]!;
  const value = action[kind] as { readonly code?: string };
  return kind === 'error' || kind === 'unknownCode' ? value.code! : kind;
}

/** The latch that has to be released for the request to end. */
function releaseLine(fault: Fault): string[] {
  const latch = actionsOf(fault)[0]?.hold as string | undefined;
  if (latch === undefined) return [];
  return [`  const timer = setInterval(() => emulator.release(${literal(latch)}) && clearInterval(timer), 50);`];
}

/** Whether an answer may take longer than a test waits. */
function isSlow(fault: Fault): boolean {
  const [action = {}] = actionsOf(fault);
  return 'throttle' in action || 'latency' in action || (action.cut as Members | undefined)?.how === 'stall';
}

function fetchTest(fault: Fault, operation: Operation, { repo, sub }: Names): string {
  const { method, path } = operation.routes[0]!;
  const { query = '', body = '{}' } = SERVED_REQUESTS[operation.id] ?? {};
  const isGit = operation.group === 'Git';
  const url = path.replace('{repo_name}', isGit ? repo : encodeURIComponent(repo)).replaceAll(/\{\w+\}/g, 'x') + query;
  const hasBody = operation.stages.includes('body');
  const type = /^(?:commitPack|diffCommit)$/.test(operation.id) ? 'application/x-ndjson' : 'application/json';
  const token = `await emulator.token(${literal({ repo, scopes: operation.scopes, ...(sub !== undefined && { sub }) })})`;
  const credential = isGit ? `\`Basic \${btoa(\`t:\${${token}}\`)}\`` : `\`Bearer \${${token}}\``;
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    'headers',
    ...(hasBody ? [`body: ${literal(body)}`] : []),
    ...(isSlow(fault) ? ['signal: AbortSignal.timeout(1_000)'] : []),
  ];
  const request = `fetch(\`\${emulator.baseUrl}${inTemplate(url)}\`, { ${options.join(', ')} })`;
  const skip = fault.when?.skip ?? 0;
  const again = skip > 0 ? `for (let n = 0; n <= ${skip}; n++) ` : '';
  return [
    "import test from 'node:test';",
    "import { withEmulator } from 'repohost-emulator/node-test';",
    'const emulator = withEmulator();',
    `test(${literal(`${operation.id} meets ${nameOf(fault)}`)}, async () => {`,
    `  await emulator.repository(${literal(repo)}).seed({ 'a.txt': 'a' });`,
    `  const headers = { authorization: ${credential}${hasBody ? `, 'content-type': '${type}'` : ''} };`,
    planLine(fault),
    ...releaseLine(fault),
    `  ${again}await ${request}.then((answer) => answer.text()).catch(() => {});`,
    '});',
  ].join('\n');
}

function gitTest(fault: Fault, operation: Operation, { repo, sub, ref }: Names): string {
  const token = `await emulator.token(${literal({ repo, ...(sub !== undefined && { sub }) })})`;
  const clone = `git clone -q http://t:\${${token}}@\${emulator.gitHost}/${repo}.git .`;
  const push = operation.id === 'gitReceivePack' ? ` && git push -q origin HEAD:${ref}` : '';
  const skip = fault.when?.skip ?? 0;
  const again = skip > 0 ? `for (let n = 0; n <= ${skip}; n++) ` : '';
  const options = isSlow(fault) ? ', { timeout: 3_000 }' : '';
  return [
    "import { exec } from 'node:child_process';",
    "import test from 'node:test';",
    "import { promisify } from 'node:util';",
    "import { withEmulator } from 'repohost-emulator/node-test';",
    'const emulator = withEmulator();',
    `test(${literal(`git meets ${nameOf(fault)}`)}, async () => {`,
    `  await emulator.repository(${literal(repo)}).seed({ 'a.txt': 'a' });`,
    [planLine(fault), ...releaseLine(fault).map((line) => line.trim())].join(' '),
    `  ${again}await promisify(exec)(\`cd "$(mktemp -d)" && ${clone}${push}\`${options}).catch(() => {});`,
    '});',
  ].join('\n');
}

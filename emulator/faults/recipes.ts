import { type ProblemCode, problemCodes } from '../http/problem.js';
import { quoteText, quoteWord } from './shell.js';

/**
 * Way in which a recipe causes an error code: by requests alone, by changing the service's state, by setting a quota,
 * or by injecting a fault.
 */
type RecipeWay = 'natural' | 'state' | 'quota' | 'fault';

/** HTTP request of a recipe, which the user sends with `curl`. */
interface RecipeRequest {
  readonly method: string;
  /** Path and query of the request. */
  readonly path: string;
  /** Name of the shell variable that contains the token. Default: `TOKEN`. Null for a request without a token. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** JSON values of an NDJSON body, one value per line. */
  readonly lines?: readonly unknown[];
}

/** Step of a recipe, which is one shell command. */
type RecipeStep =
  /**
   * Arguments of the command `emulator`. The environment variable EMULATOR_URL tells the command where the emulator
   * runs.
   */
  | { readonly emulator: readonly string[] }
  /** Flags of the command `emulator token`. The resulting token is assigned to the shell variable `as`. */
  | { readonly token: readonly string[]; readonly as: string }
  | { readonly send: RecipeRequest };

/** Shell commands that make a newly started emulator return an error code. Shown in the documentation of the code. */
export interface Recipe {
  readonly code: ProblemCode;
  readonly way: RecipeWay;
  /** Commands in order. The last command is a request whose response has the error code. */
  readonly steps: readonly [...RecipeStep[], { readonly send: RecipeRequest }];
}

/** Repository and organization in the commands. A newly started emulator has this organization by default. */
const REPO = 'app';
const ORG = 'demo';

const ADA = { name: 'Ada', email: 'ada@example.com' };

/** Creates the step that stores a token with these scopes in the shell variable `TOKEN`. */
function token(...scopes: readonly string[]): RecipeStep {
  return { token: ['--repo', REPO, '--scopes', scopes.join(',')], as: 'TOKEN' };
}

function get(path: string, more: Partial<RecipeRequest> = {}): { readonly send: RecipeRequest } {
  return { send: { method: 'GET', path, ...more } };
}

function post(path: string, json?: unknown, more: Partial<RecipeRequest> = {}): { readonly send: RecipeRequest } {
  return { send: { method: 'POST', path, ...(json !== undefined && { json }), ...more } };
}

function remove(path: string): { readonly send: RecipeRequest } {
  return { send: { method: 'DELETE', path } };
}

/** Creates the step that commits the file `a.txt` with this content to the branch `main`. */
function commit(content: string, metadata: object = {}): RecipeStep {
  const files = [{ path: 'a.txt', content_id: 'a' }];
  const about = { target_branch: 'main', commit_message: content, author: ADA, files, ...metadata };
  const chunk = { content_id: 'a', data: Buffer.from(content).toString('base64'), eof: true };
  return post('/api/v1/repos/commit-pack', undefined, { lines: [{ metadata: about }, { blob_chunk: chunk }] });
}

/** Creates the step that changes settings or limits of the service with `emulator state set`. */
function state(changes: object): RecipeStep {
  return { emulator: ['state', 'set', JSON.stringify(changes)] };
}

const TOKEN = token('git:read', 'git:write', 'repo:write');
const CREATE = post('/api/repos');
const DEPLOYER = token('git:write', 'repo:write', 'deployment:read', 'deployment:write');
const HOSTED = post('/api/repos', { deployment: {} });
const CREDENTIAL = post('/api/v1/repos/git-credentials', { username: 'ada', password: 'secret' });
const UNREACHABLE = state({ organizations: { [ORG]: { upstream: { error: 'The forge cannot be reached' } } } });
const MIRROR = post('/api/repos', { base_repo: { provider: 'gitlab', owner: 'team', name: 'app' } });
const FORGE_MIRROR = post('/api/repos', { base_repo: { provider: 'github', owner: 'team', name: 'app' } });

/** Steps for error codes that need no fault, grouped by the way in which the code is caused. */
const WAYS: Readonly<Record<'natural' | 'state' | 'quota', Readonly<Partial<Record<ProblemCode, Recipe['steps']>>>>> = {
  natural: {
    bad_request: [TOKEN, CREATE, get('/api/v1/repos/commit')],
    unauthorized: [get('/api/repos', { token: null })],
    forbidden: [{ token: ['--repo', REPO, '--org', 'nobody'], as: 'TOKEN' }, get('/api/v1/repo')],
    not_found: [TOKEN, CREATE, commit('one'), get('/api/v1/repos/file?path=none')],
    method_not_allowed: [TOKEN, { send: { method: 'PUT', path: '/api/v1/repo' } }],
    conflict: [TOKEN, CREATE, CREATE],
    precondition_failed: [
      TOKEN,
      CREATE,
      commit('one'),
      get('/api/v1/repos/file?path=a.txt', { headers: { 'If-Match': '"another"' } }),
    ],
    insufficient_scope: [token('git:write'), get('/api/v1/repo')],
    repo_claim_missing: [{ token: ['--no-repo', '--scopes', 'git:read'], as: 'TOKEN' }, get('/api/v1/repo')],
    repo_name_mismatch: [TOKEN, post('/api/repos', { repo_name: 'other' })],
    route_not_found: [TOKEN, get('/api/nowhere')],
    repository_not_found: [TOKEN, get('/api/v1/repo')],
    repository_deleted: [TOKEN, CREATE, remove(`/api/repos/${REPO}`), remove(`/api/repos/${REPO}`)],
    // Makes the forge unreachable first. Creating a mirror starts a sync, which must not contact a real host.
    upstream_already_configured: [TOKEN, UNREACHABLE, MIRROR, MIRROR],
    branch_not_found: [TOKEN, CREATE, get('/api/v1/repos/branch?name=none')],
    ref_not_found: [TOKEN, CREATE, get('/api/v1/repos/commit?sha=none')],
    merge_conflict: [
      TOKEN,
      CREATE,
      commit('one'),
      commit('two', { target_branch: 'topic', base_branch: 'main' }),
      commit('three'),
      post('/api/v1/repos/merge', {
        source_branch: 'topic',
        target_branch: 'main',
        strategy: 'merge',
        author: ADA,
        commit_message: 'Merge',
      }),
    ],
    credential_not_found: [TOKEN, CREATE, remove(`/api/repos/${REPO}/git-credentials/none`)],
    credential_exists: [TOKEN, CREATE, CREDENTIAL, CREDENTIAL],
    hosting_project_not_found: [DEPLOYER, CREATE, get(`/api/repos/${REPO}/deployments`)],
    deployment_not_found: [DEPLOYER, HOSTED, get(`/api/repos/${REPO}/deployments/none`)],
    deployment_project_name_in_use: [
      TOKEN,
      post('/api/repos', { deployment: { project_name: 'site' } }),
      { token: ['--repo', 'other', '--scopes', 'repo:write'], as: 'OTHER' },
      post('/api/repos', { deployment: { project_name: 'site' } }, { token: 'OTHER' }),
    ],
    idempotency_key_reused: [
      DEPLOYER,
      HOSTED,
      commit('one'),
      post(`/api/repos/${REPO}/deployments`, {}, { headers: { 'Idempotency-Key': 'one' } }),
      post(`/api/repos/${REPO}/deployments`, { target: 'production' }, { headers: { 'Idempotency-Key': 'one' } }),
    ],
  },
  state: {
    payload_too_large: [
      TOKEN,
      CREATE,
      state({ limits: { maxJsonBytes: 16 } }),
      post('/api/v1/repos/grep', { query: { pattern: 'x' } }),
    ],
    service_unavailable: [
      TOKEN,
      CREATE,
      { emulator: ['state', 'set', '--repo', `${REPO}=syncing`] },
      post('/api/v1/repos/grep', { query: { pattern: 'x' } }),
    ],
    authentication_unavailable: [
      TOKEN,
      { emulator: ['state', 'set', '--org', `${ORG}.authentication=unavailable`] },
      get('/api/v1/repo'),
    ],
    repository_thawing: [
      TOKEN,
      CREATE,
      { emulator: ['state', 'set', '--repo', `${REPO}=thawing`] },
      get('/api/v1/repo'),
    ],
    sync_in_progress: [
      TOKEN,
      CREATE,
      { emulator: ['state', 'set', '--repo', `${REPO}=syncing`] },
      post('/api/v1/repos/tags', { name: 'v1', target: '0'.repeat(40) }),
    ],
    forge_app_not_configured: [TOKEN, { emulator: ['state', 'set', '--org', `${ORG}.forgeApps=0`] }, FORGE_MIRROR],
    forge_repository_inaccessible: [TOKEN, UNREACHABLE, FORGE_MIRROR],
    hosting_not_enabled: [TOKEN, { emulator: ['state', 'set', '--org', `${ORG}.hosting=off`] }, HOSTED],
  },
  quota: {
    rate_limited: [
      TOKEN,
      { emulator: ['quota', 'set', 'gateway', '{"capacity":1,"refill":"1/m"}'] },
      CREATE,
      get('/api/v1/repo'),
    ],
  },
};

/**
 * Returns steps that cause an error code by a fault in a request header. A fault can cause every code, so this is used
 * for codes that have no quick other way.
 */
function byFault(code: ProblemCode): Recipe['steps'] {
  return [TOKEN, CREATE, get('/api/v1/repo', { headers: { 'X-Emulator-Fault': code } })];
}

/** One recipe for each error code, in the order of the specification's tables. */
export const RECIPES: readonly Recipe[] = problemCodes().map(({ code }) => {
  const [way, rows] = Object.entries(WAYS).find(([, steps]) => steps[code]) ?? ['fault', {}];
  return { code, way: way as RecipeWay, steps: rows[code] ?? byFault(code) };
});

/**
 * Returns a recipe as POSIX shell commands, one per step. The last command prints the response with its headers; the
 * others print only errors.
 */
export function writeCommands({ steps }: Recipe): string[] {
  return steps.map((step, index) => {
    if ('emulator' in step) return ['emulator', ...step.emulator].map(quoteWord).join(' ');
    if ('token' in step) return `${step.as}=$(${['emulator', 'token', ...step.token].map(quoteWord).join(' ')})`;
    const isLast = index === steps.length - 1;
    return [isLast ? 'curl -sS -i' : 'curl -fsS -o /dev/null', ...curlArguments(step.send)].join(' ');
  });
}

function curlArguments({ method, path, token = 'TOKEN', headers = {}, json, lines }: RecipeRequest): string[] {
  const types = {
    ...(json !== undefined && { 'Content-Type': 'application/json' }),
    ...(lines && { 'Content-Type': 'application/x-ndjson' }),
  };
  const body = lines ? lines.map((line) => `${JSON.stringify(line)}\n`).join('') : JSON.stringify(json);
  return [
    ...(method === 'GET' ? [] : ['-X', method]),
    `"$EMULATOR_URL${path}"`,
    ...(token === null ? [] : ['-H', `"Authorization: Bearer $${token}"`]),
    ...Object.entries({ ...types, ...headers }).flatMap(([name, value]) => ['-H', quoteText(`${name}: ${value}`)]),
    ...(body === undefined ? [] : ['--data-binary', quoteText(body)]),
  ];
}

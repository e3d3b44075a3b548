import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { main } from '../../cli/main.js';
import { problemCodes } from '../../http/problem.js';
import { type Emulator, startEmulator } from '../../index.js';

// Tests the reference of error codes that `emulator faults --markdown` prints. A shell runs the commands of each recipe
// in a new world (state of the emulator). The last response must have the status and code of the recipe's heading.

/** Error codes from the specification's two tables, with their HTTP statuses. */
const SPECIFIED: Readonly<Record<string, number>> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unprocessable_entity: 422,
  rate_limited: 429,
  request_canceled: 499,
  internal_error: 500,
  not_implemented: 501,
  bad_gateway: 502,
  service_unavailable: 503,
  gateway_timeout: 504,
  authentication_unavailable: 403,
  insufficient_scope: 403,
  repo_claim_missing: 400,
  repo_name_mismatch: 400,
  route_not_found: 404,
  repository_not_found: 404,
  repository_deleted: 409,
  repository_thawing: 409,
  sync_in_progress: 409,
  upstream_already_configured: 409,
  branch_not_found: 404,
  ref_not_found: 404,
  merge_conflict: 409,
  credential_not_found: 404,
  credential_exists: 409,
  forge_app_not_configured: 412,
  forge_repository_inaccessible: 412,
  hosting_not_enabled: 403,
  hosting_project_not_found: 404,
  deployment_not_found: 404,
  deployment_project_name_in_use: 409,
  idempotency_key_reused: 422,
};

const ORIGINS: Readonly<Record<string, RegExp>> = {
  // Also allow the origin `state`. A repository that a request has deleted is in the state "deleted".
  'Caused by requests only': /^(real|state)$/,
  'Caused by a simulated state': /^(real|state)$/,
  'Caused by a quota': /^real$/,
  'Caused by a fault': /^injected:/,
};

const SECTION = /^### (\d+) (\w+)\n\n([\w ]+):\n\n```sh\n([\s\S]*?)\n```$/gm;

/**
 * Matches the recipe for a table of error codes. The groups are the code that the commands use, the commands, and the
 * rows with the other codes.
 */
const TABLE = /^### Codes that a fault returns\n\n.* `(\w+)`;.*\n\n```sh\n([\s\S]*?)\n```\n\n([\s\S]*?\n)\n/m;
const ROW = /^\| (\d+) \| `(\w+)` \|$/gm;

interface Printed {
  readonly status: number;
  readonly code: string;
  readonly way: string;
  readonly script: string;
}

async function print(...argv: string[]): Promise<string> {
  let out = '';
  const code = await main(['faults', ...argv], {
    print: (text) => {
      out += text;
    },
    printed: () => Promise.resolve(undefined),
    warn: (text) => {
      throw new Error(text);
    },
    input: async () => '',
    isInteractive: false,
    columns: 100,
    environment: {},
    now: () => 0,
  });
  if (code !== 0) throw new Error(`emulator faults ended with ${code}.`);
  return out;
}

async function printedRecipes(): Promise<Printed[]> {
  const markdown = await print('--markdown');
  const [, shown = '', shared = '', rows = ''] = TABLE.exec(markdown) ?? [];
  const ofTable = [...rows.matchAll(ROW)].map(([, status, code = '']) => {
    return { status: Number(status), code, way: 'Caused by a fault', script: shared.replace(shown, code) };
  });
  const ofSections = [...markdown.matchAll(SECTION)].map(([, status, code, way, script]) => ({
    status: Number(status),
    code: code!,
    way: way!,
    script: script!,
  }));
  const inOrder = problemCodes().map(({ code }) => code as string);
  return [...ofTable, ...ofSections].sort((a, b) => inOrder.indexOf(a.code) - inOrder.indexOf(b.code));
}

/** Creates a folder with a command `emulator` that runs this checkout's program. Scripts find it through PATH. */
function commandFolder(t: Test): string {
  const bin = fileURLToPath(new URL('../../../../bin/emulator.js', import.meta.url));
  const folder = t.testdir({});
  const file = join(folder, 'emulator');
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
  chmodSync(file, 0o755);
  return folder;
}

/** Runs a shell script that stops at the first failed command. Returns its exit code and output. */
function runShell(
  script: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ code: unknown; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile('sh', ['-e', '-c', script], { env: environment }, (error, out, err) => {
      resolve({ code: error ? error.code : 0, out, err });
    });
  });
}

async function follow(
  t: Test,
  emulator: Emulator,
  { status, code, way, script }: Printed,
  path: string,
): Promise<void> {
  await using world = await emulator.namespace();
  const environment = { PATH: `${path}${delimiter}${process.env.PATH}`, EMULATOR_URL: world.baseUrl };
  const { out, ...ended } = await runShell(script, environment);
  t.same(ended, { code: 0, err: '' }, `${code}: ${out}`);
  const [head = '', body = ''] = out.slice(out.search(/^HTTP\//m)).split('\r\n\r\n');
  t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), `${code}: the status`);
  t.equal(JSON.parse(body).code, code, `${code}: the code`);
  const last = world.requests().at(-1)!;
  t.match(last, { status, code, origin: ORIGINS[way] }, `${code}: the journal, ${way}`);
}

t.test('there is one recipe for each code', async (t) => {
  const recipes = await printedRecipes();
  t.same(
    recipes.map(({ code }) => code),
    problemCodes().map(({ code }) => code),
  );
  const found = Object.fromEntries(recipes.map(({ code, status }) => [code, status]));
  t.match(found, SPECIFIED);
  for (const { code, script } of recipes) {
    const alone = await print(code);
    t.ok(alone.endsWith(`\n${script}\n`), `${code}: printed alone`);
  }
  const { codes } = JSON.parse(await print('--json'));
  t.same(
    codes.map(({ commands }: { commands: string[] }) => commands.join('\n')),
    recipes.map(({ script }) => script),
  );
});

const missing = ['sh', 'curl'].filter((name) => spawnSync(name, name === 'sh' ? ['-c', ''] : ['--version']).error);

t.test('each printed recipe produces its code', { skip: missing.length > 0 && `no ${missing}` }, async (t) => {
  const emulator = await startEmulator({ port: 0 });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  const path = commandFolder(t);
  const recipes = await printedRecipes();
  // Run two recipes at a time, because starting processes takes most of the time.
  const queue = recipes.values();
  const work = async () => {
    for (const recipe of queue) await follow(t, emulator, recipe, path);
  };
  await Promise.all([work(), work()]);
  t.ok(recipes.length >= Object.keys(SPECIFIED).length);
});

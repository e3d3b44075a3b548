import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Options, run } from '../index.js';
import { describeRule, describeRun } from '../report/reporter.js';
import { packageRoot } from '../target/package-root.js';
import type { Target } from '../target/target.js';
import { type Rewrite, startProxy } from './mutants/proxy.js';
import { startNamespace } from './shared-emulator.js';

t.setTimeout(900_000);

/** Ids of the rules that run once with each value of the option `gitClient`. */
const RULES = [
  'git.clone.complete',
  'git.fetch',
  'git.fetch.branch',
  'git.push',
  'git.remote.form',
  'git.remote.repository',
  'git.visibility.api-to-git',
  'git.visibility.git-to-api',
];

const hasGit = spawnSync('git', ['--version']).status === 0;
const skip = !hasGit && 'git is not installed: apt-get install git';
const emulator = await startNamespace(t);

async function verdictsOf(
  target: Target,
  gitClient: NonNullable<Options['gitClient']>,
  ids: readonly string[] = RULES,
  options: Options = {},
) {
  const report = await run(target, { ...options, only: ids.join(','), gitClient });
  // Keep only the exact ids, because the option `only` also selects rules whose ids begin with one of them.
  const rules = report.rules.filter(({ id }) => ids.includes(id));
  return { report, rules, verdicts: Object.fromEntries(rules.map(({ id, verdict }) => [id, verdict])) };
}

const allOf = (verdict: string, ids: readonly string[] = RULES) => Object.fromEntries(ids.map((id) => [id, verdict]));

/**
 * Replaces the `git` program with a shell script until the test ends. In the script, `$REAL` is the path of the real
 * `git`, and `$LOG` is a file for its output. The returned `tmp` is the folder for the suite's temporary folders.
 */
function replaceGit(t: Test, script: string) {
  const folder = t.testdir({ bin: {}, tmp: {} });
  const [log, tmp] = [join(folder, 'log'), join(folder, 'tmp')];
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const file = join(folder, 'bin', 'git');
  writeFileSync(file, `#!/bin/sh\nREAL='${real}'\nLOG='${log}'\n${script}\n`);
  chmodSync(file, 0o755);
  const { PATH, TMPDIR } = process.env;
  process.env.PATH = `${join(folder, 'bin')}:${PATH}`;
  process.env.TMPDIR = tmp;
  t.teardown(() => {
    process.env.PATH = PATH;
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  return { log, tmp };
}

/** Waits until `isSo` returns true. Fails the test after 30 seconds. */
async function until(t: Test, what: string, isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600 && !isSo(); tries++) await sleep(50);
  t.ok(isSo(), what);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Shell script that replaces `git`. Its `fetch` writes the process id to `$LOG` and then never ends. */
const HANGS = `[ "$1" = fetch ] && { echo $$ > "$LOG"; exec sleep 600; }; exec "$REAL" "$@"`;

t.test('the emulator passes with native Git, alone and beside the client of the suite', { skip }, async (t) => {
  const version = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim().replace('git version', 'git');
  for (const [client, ids] of [
    ['native', ['git.fetch.branch']],
    ['both', RULES],
  ] as const) {
    const { report, rules, verdicts } = await verdictsOf(emulator, client, ids);
    t.same(verdicts, allOf('pass', ids), client);
    t.equal(report.mode.git_client, client);
    const used = client === 'both' ? `isomorphic-git, ${version}` : version;
    t.match(describeRun(report).remarks, [`Git clients of this run: ${used}.`]);
    t.match(describeRule(report, rules[0]!).repeat, ` --git-client ${client} `);
    for (const { id, observed } of rules) t.equal(observed?.['native Git client'], version, id);
  }
});

/**
 * Wrong servers that only native Git detects, and the rules that must fail. Requests of isomorphic-git never trigger
 * these mistakes.
 */
const WRONG: readonly (readonly [says: string, broken: readonly string[], rewrite: Rewrite])[] = [
  [
    'finds no repository if the client accepts compressed responses',
    ['git.fetch.branch', 'git.remote.form'],
    {
      request: (request) => {
        if (/gzip/.test(request.headers['accept-encoding'] ?? '')) request.path = '/absent.git/info/refs';
      },
    },
  ],
  [
    'does not ask for Basic credentials, without which Git does not send those of the remote',
    ['git.clone.complete', 'git.push'],
    {
      response: ({ status, headers }) => {
        if (status === 401) delete headers['www-authenticate'];
      },
    },
  ],
  ['refuses compressed requests', ['git.fetch'], refuses(({ headers }) => headers['content-encoding'] === 'gzip')],
  [
    'expects a client to have found its last common commit after one request',
    ['git.fetch'],
    refuses(({ body }) => body.includes('command=fetch') && body.includes('have ') && !body.includes('done')),
  ],
  [
    'refuses the request without ref updates that Git sends before a large push',
    ['git.push'],
    refuses(({ path, body }) => path.endsWith('/git-receive-pack') && body.toString() === '0000'),
  ],
];

/** Makes the server answer requests for which `isMeant` returns true as if the repository did not exist. */
function refuses(isMeant: (request: Parameters<NonNullable<Rewrite['request']>>[0]) => boolean): Rewrite {
  return {
    request: (request) => {
      if (isMeant(request)) request.path = '/absent.git/git-upload-pack';
    },
  };
}

for (const [says, broken, rewrite] of WRONG) {
  t.test(`only native Git notices a server that ${says}`, { skip }, async (t) => {
    await using proxy = await startProxy(emulator, rewrite);
    t.same((await verdictsOf(proxy.target, 'js', broken)).verdicts, allOf('pass', broken));
    const { rules, verdicts } = await verdictsOf(proxy.target, 'both', broken);
    t.same(verdicts, allOf('fail', broken));
    for (const { reason, actual } of rules) {
      t.match(reason, /with git 2\.[\d.]+ must succeed$/);
      t.match(actual, new RegExp(`^git (fetch|push) -q .*${proxy.target.gitUrl}/.*: exit code \\d+: `));
    }
  });
}

t.test('a target that repeats credentials does not bring them into the report', { skip }, async (t) => {
  const tokens: string[] = [];
  await using proxy = await startProxy(emulator, {
    request: (request) => {
      const { authorization } = request.headers;
      if (!request.path.includes('.git/') || authorization === undefined) return;
      tokens.push(Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().replace('t:', ''));
    },
    response: (response) => {
      if (!response.request.path.includes('.git/') || response.status === 401) return;
      response.status = 403;
      response.headers['content-type'] = 'text/plain';
      const [token = ''] = tokens.slice(-1);
      response.body = Buffer.from(`refused ${token} and ${Buffer.from(`t:${token}`).toString('base64')}\n`);
    },
  });
  const { report, verdicts } = await verdictsOf(proxy.target, 'native', ['git.fetch.branch']);
  t.not(verdicts['git.fetch.branch'], 'pass');
  t.ok(tokens.length > 0);
  const printed = JSON.stringify(report);
  for (const token of tokens) {
    t.notOk(printed.includes(token));
    t.notOk(printed.includes(Buffer.from(`t:${token}`).toString('base64')));
  }
});

t.test('the process of Git gets no token, and its folder is removed', { skip }, async (t) => {
  const { log, tmp } = replaceGit(t, `{ echo "$@"; env; } >> "$LOG"; exec "$REAL" "$@"`);
  process.env.GIT_DIR = '/absent';
  t.teardown(() => {
    delete process.env.GIT_DIR;
  });
  const ids = ['git.fetch', 'git.push'];
  t.same((await verdictsOf(emulator, 'native', ids)).verdicts, allOf('pass', ids));
  const seen = readFileSync(log, 'utf8');
  t.match(seen, /^fetch -q --no-tags http:\/\/t@127\.0\.0\.1:\d+\//m);
  t.notMatch(seen, /eyJ/, 'no JWT');
  t.notMatch(seen, /^GIT_DIR=/m, 'no variable that leads Git to another repository');
  t.match(seen, new RegExp(`^HOME=${tmp}/`, 'm'), 'no configuration of the user');
  t.same(readdirSync(tmp), []);
});

t.test('a problem of this machine is no failure of the target', { skip }, async (t) => {
  const says = 'fatal: write error: No space left on device';
  const { tmp } = replaceGit(t, `[ "$1" = fetch ] && { echo '${says}' >&2; exit 128; }; exec "$REAL" "$@"`);
  const ids = ['git.fetch.branch', 'git.visibility.git-to-api'];
  const { report, rules, verdicts } = await verdictsOf(emulator, 'native', ids);
  t.same(verdicts, allOf('skip', ids));
  for (const { reason } of rules) t.equal(reason, `git fetch failed on this machine: ${says}`);
  t.equal(report.counts.fail, 0);
  t.same(readdirSync(tmp), []);
});

t.test('the process of Git ends with the time limit of its rule', { skip }, async (t) => {
  const { log, tmp } = replaceGit(t, HANGS);
  const ids = ['git.fetch.branch'];
  t.same((await verdictsOf(emulator, 'native', ids, { timeout: 500 })).verdicts, allOf('blocked', ids));
  const pid = Number(readFileSync(log, 'utf8'));
  await until(t, 'the process has ended', () => !isRunning(pid));
  await until(t, 'its folder is removed', () => readdirSync(tmp).length === 0);
});

t.test('SIGINT ends the process of Git and removes its folder', { skip }, async (t) => {
  const { log, tmp } = replaceGit(t, HANGS);
  const script = join(packageRoot(), 'bin', 'conformance.js');
  const args = [script, 'run', '--only', 'git.fetch.branch', '--git-client', 'native', '--quiet'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = text(child.stdout);
  const closed = once(child, 'close');
  await until(t, 'the fetch has begun', () => existsSync(log) && readFileSync(log, 'utf8').endsWith('\n'));
  child.kill('SIGINT');
  const [code] = await closed;
  t.equal(code, 130);
  t.match(await printed, /interrupted/i);
  t.notOk(isRunning(Number(readFileSync(log, 'utf8'))));
  t.same(readdirSync(tmp), []);
});

t.test('without a Git that is new enough, the rules are skipped with the reason', async (t) => {
  const folder = t.testdir({ old: {}, none: {} });
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'old', 'git'), '#!/bin/sh\necho git version 2.30.9\n');
  chmodSync(join(folder, 'old', 'git'), 0o755);
  const { PATH } = process.env;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  for (const [name, reason] of [
    ['none', /^git is not on the PATH, which --git-client native needs$/],
    ['old', /^--git-client native needs git 2\.31 or newer; this is 2\.30\.9$/],
  ] as const) {
    process.env.PATH = name === 'old' ? `${join(folder, name)}:/bin` : join(folder, name);
    const { report, rules, verdicts } = await verdictsOf(emulator, 'both');
    t.equal(report.exit_code, 0);
    t.same(verdicts, allOf('skip'), name);
    for (const rule of rules) t.match(rule.reason, reason);
  }
});

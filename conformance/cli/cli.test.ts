import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { listenOnLoopback } from '../http/listen.js';
import { packageRoot } from '../target/package-root.js';
import { minimal, startTestServer } from '../test/test-server.js';
import { loadCommands, main } from './main.js';
import { SCHEMAS } from './schema.js';

const script = join(packageRoot(), 'bin', 'conformance.js');
const key = join(packageRoot(), 'fixtures', 'keys', 'es256.pem');
const rule = 'jwt.alg.none';

/** Server with the minimal behaviour with which the rule `other.meta.exists` passes. */
const server = await startTestServer(minimal);
t.teardown(() => server.close());
const checked = [
  'run',
  '--quiet',
  '--base-url',
  server.baseUrl,
  '--org',
  'demo',
  '--key',
  key,
  '--only',
  'other.meta.exists',
];

/**
 * Runs `conformance <argv>` in this process. Returns its exit code and output. If `lost` is given, writing to standard
 * output fails with this error.
 */
async function call(argv: readonly string[], lost?: NodeJS.ErrnoException) {
  const said = { code: 0, out: '', err: '' };
  said.code = await main(argv, {
    print: (text) => {
      said.out += text;
    },
    printed: () => Promise.resolve(lost),
    warn: (text) => {
      said.err += text;
    },
  });
  return said;
}

/**
 * Runs `conformance <argv>` in a child process. `out` and `err` can break standard output and standard error: the
 * stream is closed, or fails like a full disk.
 */
async function spawned(test: Test, argv: readonly string[], { out, err }: Streams = {}) {
  const full = openSync('/dev/full', 'w');
  const streamOf = (kind?: string) => (kind === 'full' ? full : 'pipe');
  const child = spawn(process.execPath, [script, ...argv], { stdio: ['ignore', streamOf(out), streamOf(err)] });
  closeSync(full);
  test.teardown(() => child.kill('SIGKILL'));
  const said = { code: null as number | null, out: '', err: '' };
  child.stdout?.on('data', (part) => {
    said.out += part;
  });
  child.stderr?.on('data', (part) => {
    said.err += part;
  });
  if (out === 'closed') child.stdout?.destroy();
  if (err === 'closed') child.stderr?.destroy();
  [said.code] = await once(child, 'close');
  return said;
}

interface Streams {
  readonly out?: 'full' | 'closed';
  readonly err?: 'full' | 'closed';
}

/**
 * Asserts that the command line is refused: exit code 2, nothing on standard output, and one line on standard error.
 */
async function refused(test: Test, argv: readonly string[], line: RegExp) {
  const { code, out, err } = await call(argv);
  test.same([code, out], [2, ''], argv.join(' '));
  test.match(err, line);
  test.match(err, /^[^\n]+\n$/, 'one line');
}

const commands = await loadCommands();

/** Command lines that only print text, at least one for each command. */
const PRINTING = [
  ['--help'],
  ['--version'],
  ...commands.map(({ name }) => [name, '--help']),
  ['list'],
  ['list', '--json'],
  ...Object.keys(SCHEMAS).map((of) => ['schema', of]),
  ['explain', rule],
  ['token', '--org', 'a', '--key', key],
  checked,
];

/**
 * Command lines that produce output in three different ways: a short text from yargs, a text longer than a pipe's
 * buffer, and a text printed after requests.
 */
const PROCESSES = [['--help'], ['list', '--json'], checked];

function errorOf(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: write`), { code });
}

t.test('commands print only to their terminal', async (t) => {
  for (const argv of PRINTING) {
    const { code, out, err } = await call(argv);
    t.same([code, err], [0, ''], argv.join(' '));
    t.match(out, /./);
  }
});

t.test('help explains the exit codes', async (t) => {
  const { out } = await call(['--help']);
  for (const code of [0, 1, 2, 3, 4, 130]) t.match(out, new RegExp(`[ ;]${code} [a-z]`), String(code));
  await refused(t, ['schema', 'nonsense'], /^unknown schema nonsense; the schemas are target, baseline, report$/m);
});

t.test('a command whose output nobody reads ends quietly with its normal exit code', async (t) => {
  for (const argv of PRINTING) t.match(await call(argv, errorOf('EPIPE')), { code: 0, err: '' }, argv.join(' '));
  const ends = await Promise.all(PROCESSES.map((argv) => spawned(t, argv, { out: 'closed' })));
  for (const end of ends) t.match(end, { code: 0, err: '' });
});

t.test('output to a full disk results in one line and exit code 4', async (t) => {
  const line = /^standard output cannot be written: ENOSPC[^\n]*\n$/;
  for (const argv of PRINTING) t.match(await call(argv, errorOf('ENOSPC')), { code: 4, err: line }, argv.join(' '));
  const ends = await Promise.all(PROCESSES.map((argv) => spawned(t, argv, { out: 'full' })));
  for (const end of ends) t.match(end, { code: 4, err: line });
});

t.test('error messages that cannot be written do not change the exit code', async (t) => {
  await refused(t, [], /^Name a command/);
  await refused(t, ['nonsense'], /nonsense/);
  const streams: readonly Streams[] = [{ err: 'full' }, { err: 'closed' }];
  const ends = await Promise.all(streams.map((broken) => spawned(t, ['run', '--nonsense'], broken)));
  for (const { code } of ends) t.equal(code, 2);
});

t.test('every command refuses repeated, empty, contradictory and unknown flags', async (t) => {
  for (const { name, flags, exclusive, arguments: names } of commands) {
    const before = [name, ...names.map(() => rule)];
    await refused(t, [...before, '--nonsense'], /nonsense/);
    await refused(t, [...before, '--', 'x'], /after --/);
    for (const [flag, row] of Object.entries(flags)) {
      if (row.read) {
        await refused(t, [...before, `--${flag}=`], new RegExp(`^--${flag} |following: ${flag}`));
        if (!row.repeatable)
          await refused(
            t,
            [...before, `--${flag}=1`, `--${flag}=1`],
            new RegExp(`^--${flag} was given more than once`),
          );
        continue;
      }
      await refused(t, [...before, `--${flag}`, `--${flag}`], /more than once/);
      await refused(t, [...before, `--${flag}=maybe`], /takes no value/);
      await refused(t, [...before, `--${flag}`, `--no-${flag}`], /more than once|unknown flag/);
      if (!row.negatable) await refused(t, [...before, `--no-${flag}`], /unknown flag/);
    }
    const typed = (flag: string) => (flags[flag]?.read ? `--${flag}=1` : `--${flag}`);
    for (const [one, other] of exclusive) await refused(t, [...before, typed(one), typed(other)], /contradict/);
  }
});

t.test('invalid flags of run are refused before anything starts', async (t) => {
  const target = ['--base-url', 'http://127.0.0.1:1', '--org', 'a', '--key', key];
  for (const [argv, line] of [
    [['--timeout', '-1'], /^--timeout must be a whole number/],
    [['--timeout', 'NaN'], /^--timeout must be/],
    [['--timeout', '0'], /^--timeout must be/],
    [['--rate', '-1'], /^--rate must be a number above 0/],
    [['--rate', '0'], /^--rate must be/],
    [['--rate', 'x'], /^--rate must be/],
    [['--reporter', 'xml'], /^--reporter must be one of pretty, tap, json/],
    [['--output', '/absent/report'], /^--output cannot be written/],
    [['--output', '/'], /^--output cannot be written/],
    [['--only', 'nonsense'], /^no rule matches nonsense/],
    [['--profile', 'nonsense'], /profiles out of read, write, git, restricted-keys, companion, hosting/],
    [['--git-client', 'jgit'], /^--git-client must be one of js, native, both, not "jgit"$/m],
    [['--only', 'grep', '--profile', 'git'], /^no rule matches grep and the profiles git$/m],
    [['--rate', '-1'], /or unlimited/],
    [['--window', '0'], /^--window must be a number of seconds above 0/],
    [['--workers', '0'], /^--workers must be a whole number from 1 to 64/],
    [['--seed', '-1'], /^--seed must be a whole number from 0/],
    [['--prefix', 'Team'], /^--prefix must be 1 to 32 lower-case letters/],
    [['--prefix', 'a/b'], /^--prefix must be/],
    ...['0/4', '5/4', '1', 'a/b', '1/0', '-1/4', '1/4/4', '1.5/4'].map(
      (shard) => [['--shard', shard], /^--shard must be a shard, such as 1\/4 or 4\/4, not/] as const,
    ),
    [['--baseline', '/absent'], /^--baseline: \/absent cannot be read: no such file/],
    [['--baseline', '/dev/zero'], /^--baseline: \/dev\/zero cannot be read: it is larger than 1 MiB/],
    [['--target', '/absent'], /^\/absent cannot be read: no such file/],
    [['--target', '/dev/zero'], /^\/dev\/zero cannot be read: it is larger than 1 MiB/],
    [[...target.slice(0, 4), '--key-env', 'not-a-name'], /^--key-env must be the name of an environment variable/],
    [
      [...target.slice(0, 4), '--key-env', 'REPOHOST_ABSENT'],
      /^--key-env: the environment variable REPOHOST_ABSENT is not set/,
    ],
    [[...target, '--key-env', 'KEY'], /^--key and --key-env contradict each other/],
    [['--org', 'a'], /^--org has no effect without --base-url or --target/],
    [['--no-write'], /^--write has no effect without --base-url/],
    [['--base-url', 'http://x'], /^--base-url has no effect without --org/],
    [['--base-url', 'x', '--org', 'a', '--key', key], /^--base-url must be an http or https address/],
    [[...target, '--second-org', 'b'], /^--second-org has no effect without --second-key/],
    [[...target, '--restricted-scopes', 'git:read'], /^--restricted-scopes has no effect without --restricted-key/],
    [[...target, '--deleted-key', '/absent'], /ENOENT/],
    [[...target, '--deleted-key', '/dev/zero'], /^--deleted-key: \/dev\/zero cannot be read: it is larger/],
  ] as const) {
    await refused(t, ['run', ...argv], line);
  }
  process.env.CONFORMANCE_TIMEOUT = '-1';
  t.teardown(() => delete process.env.CONFORMANCE_TIMEOUT);
  await refused(t, ['run'], /^--timeout must be/);
  delete process.env.CONFORMANCE_TIMEOUT;
  process.env.CONFORMANCE_STRICT = 'perhaps';
  await refused(t, ['run'], /^--strict of the environment must be true or false/);
  delete process.env.CONFORMANCE_STRICT;
  await refused(t, ['explain', 'nonsense'], /^unknown rule nonsense$/m);
  await refused(t, ['list', '--only', 'nonsense'], /^no rule matches nonsense$/m);
  const token = ['token', '--org', 'a', '--key', key];
  await refused(t, [...token, '--ttl', '-5'], /^--ttl must be/);
  for (const recipe of ['{', '[]', '5'])
    await refused(t, [...token, '--recipe', recipe], /^--recipe must be a JSON object/);
  await refused(t, [...token, '--repo', 'a', '--recipe', '{"repo":"b"}'], /^repo is set by both --recipe and a flag/);
  await refused(t, ['token', '--org', 'a', '--key', '/absent'], /ENOENT/);
});

t.test('an environment variable has the effect of its flag, and other variables have none', async (t) => {
  const variables = { CONFORMANCE_ORG: 'of-the-environment', CONFORMANCE_SIGNING_PEM: 'x', CONFORMANCE_REPO: '' };
  Object.assign(process.env, variables);
  t.teardown(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  const claims = async (...argv: string[]) => {
    const { code, out, err } = await call(['token', '--key', key, ...argv]);
    t.same([code, err], [0, '']);
    return JSON.parse(Buffer.from(out.split('.')[1] ?? '', 'base64url').toString());
  };
  t.match(await claims(), { iss: 'of-the-environment', repo: undefined });
  t.match(await claims('--org', 'typed'), { iss: 'typed' });
  t.match(await call(['list', '--only', rule]), { code: 0, err: '' });
  process.env.CONFORMANCE_KEY = '/absent';
  process.env.REPOHOST_TEST_PEM = readFileSync(key, 'utf8');
  t.teardown(() => delete process.env.CONFORMANCE_KEY);
  t.teardown(() => delete process.env.REPOHOST_TEST_PEM);
  t.match(await call(['token', '--key-env', 'REPOHOST_TEST_PEM']), { code: 0 }, 'what is typed goes before its rival');
});

t.test('a target that never responds results in exit code 3 within --timeout', async (t) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  for (const host of [await listenOnLoopback(server), '127.0.0.1:1']) {
    const flags = ['--base-url', `http://${host}`, '--org', 'a', '--key', key, '--timeout', '200'];
    const { code, out, err } = await call(['run', ...flags]);
    t.same([code, out], [3, '']);
    t.match(err, /^http:\/\/127\.0\.0\.1:\d+ does not answer: [^\n]+\n$/);
  }
});

t.test('--output writes the report to a file', async (t) => {
  const folder = t.testdir({});
  mkdirSync(join(folder, 'reports'));
  const file = join(folder, 'reports', 'report.json');
  writeFileSync(file, 'of an earlier run');
  t.match(await call([...checked, '--reporter', 'json', '--output', file]), { code: 0, out: '' });
  t.equal(JSON.parse(readFileSync(file, 'utf8')).exit_code, 0);
  t.match(await call([...checked, '--output', '/dev/full']), {
    code: 4,
    err: /^\/dev\/full cannot be written: [^\n]*ENOSPC[^\n]*\n$/,
  });
});

t.test('without an address, run starts, checks and stops the emulator of the package', async (t) => {
  t.match(await call(['run', '--only', rule]), { code: 0, out: /conforms in the checked rules/, err: '' });
});

/**
 * Returns the paths of all modules of the suite that `entry` imports, directly or indirectly. The result includes
 * `entry`.
 */
function modulesOf(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  const source = readFileSync(join(packageRoot(), 'dist', 'conformance', entry), 'utf8');
  const imports = source.matchAll(/^(?:import|export) (?:[^;]*? from )?'(\.[^']+)';$/gm);
  for (const [, path = ''] of imports) modulesOf(join(dirname(entry), path), seen);
  return seen;
}

t.test('commands that need no rules do not load them', async (t) => {
  const isRule = (module: string) => module.startsWith('rules/');
  t.ok([...modulesOf('cli/run.js')].filter(isRule).length > 20, 'a run loads them');
  for (const entry of ['cli/main.js', 'cli/token.js']) t.same([...modulesOf(entry)].filter(isRule), [], entry);
});

t.test('help lists the commands, and the flags of each command', async (t) => {
  const { out } = await call(['--help']);
  for (const { name } of commands) t.match(out, new RegExp(`^  conformance ${name} .* \\w`, 'm'));
  t.match((await call(['token', '--help'])).out, /^conformance token\n[\s\S]* --recipe /);
  t.match((await call(['--help', 'token'])).out, /--recipe /);
  await refused(t, ['constructor'], /constructor/);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { optionRows } from '../config/options.js';
import { commands } from './commands.js';
import { main } from './main.js';

async function run(argv: readonly string[], environment: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const code = await main(argv, {
    print: (text) => {
      out += text;
    },
    printed: () => Promise.resolve(undefined),
    warn: (text) => {
      err += text;
    },
    input: async () => '',
    isInteractive: false,
    columns: 100,
    environment,
    now: () => 0,
  });
  return { code, out, err };
}

async function refused(
  test: Test,
  argv: readonly string[],
  sentence: RegExp,
  environment: Record<string, string> = {},
) {
  const { code, out, err } = await run(argv, environment);
  test.same([code, out], [2, ''], argv.join(' '));
  test.match(err, sentence);
  test.match(err, /^[^\n]+[.?]\n$/, 'one sentence');
}

t.test('every command refuses repeated, contradictory and unknown flags', async (t) => {
  for (const { name, flags = {}, exclusive = [] } of commands) {
    await refused(t, [name, '--nonsense'], /nonsense/);
    // Skip two commands. `export` accepts any text as a folder name. Git requires credential helpers to ignore unknown
    // operations (gitcredentials(7)).
    if (name !== 'export' && name !== 'credential') await refused(t, [name, 'nonsense'], /nonsense|takes only flags/);
    for (const [flag, row] of Object.entries(flags)) {
      if (!row.read) {
        await refused(t, [name, `--${flag}`, `--${flag}`], new RegExp(`^--${flag} was given more than once`));
        for (const value of ['maybe', 'true', 'false'])
          await refused(t, [name, `--${flag}=${value}`], new RegExp(`^--${flag} takes no value`));
        await refused(t, [name, `--${flag}`, 'false'], new RegExp(`^--${flag} takes no value`));
        await refused(t, [name, `--no-${flag}`], /Unknown argument/);
        continue;
      }
      await refused(t, [name, `--${flag}`], new RegExp(`${flag}$|${flag}\\.$`, 'm'));
      await refused(
        t,
        [name, `--${flag}=`],
        new RegExp(`^--${flag} (must|needs)|^Not enough arguments following: ${flag}\\.`),
      );
      await refused(t, [name, `--${flag}.x`, '1'], /Unknown argument/);
      if (!row.repeatable)
        await refused(t, [name, `--${flag}=1`, `--${flag}=1`], new RegExp(`^--${flag} was given more than once`));
    }
    for (const [one, other] of exclusive) {
      const given = (flag: string) => (flags[flag]!.read ? `--${flag}=1` : `--${flag}`);
      for (const pair of [
        [one, other],
        [other, one],
      ] as const)
        await refused(t, [name, ...pair.map(given)], /cannot be combined\.$/m);
    }
  }
  t.same(
    commands.flatMap(({ name, exclusive = [] }) => exclusive.map((pair) => [name, ...pair])),
    [
      ['env', 'url', 'ready-file'],
      ['env', 'json', 'format'],
      ['token', 'repo', 'no-repo'],
      ['routes', 'json', 'markdown'],
      ['options', 'json', 'markdown'],
      ['variants', 'json', 'markdown'],
      ['faults', 'json', 'markdown'],
      ['wait', 'url', 'ready-file'],
    ],
  );
  await refused(t, ['keys', '--', 'x'], /takes no arguments after "--"/);
  for (const ttl of ['-5', '0', 'NaN', '1e3', '1.5', '9'.repeat(30)])
    await refused(t, ['token', '--repo', 'a', '--ttl', ttl], /^--ttl must be/);
  await refused(
    t,
    ['token', '--repo', 'a', '--scopes', 'git:read', '--scopes', 'git:read'],
    /^--scopes has the value .* twice/,
  );
});

t.test('every option of start and exec refuses what it cannot read, as a flag and as a variable', async (t) => {
  /** Invalid values of options. The key is the placeholder of the value in the help text. */
  const bad: Readonly<Record<string, readonly string[]>> = {
    ADDRESS: ['a b', 'http://x/'],
    PORT: ['x', '-1', '65536', '1.5', 'NaN', '1e3'],
    NAME: ['a b', 'http://x', '-'.repeat(3).concat(' ')],
    'FILE[:ID]': [join(t.testdir({}), 'absent'), `${fileURLToPath(import.meta.url)}:id`, '/dev/null', '/dev/zero'],
    FILE: [join(t.testdir({}), 'absent', 'file'), '/dev/zero'],
    PATH: [],
    DIR: [],
    'A-B': ['x', '9-1', '0-5', '1-', '70000', '1,2'],
    TOKEN: ['a b', 'ü', '='],
    FORM: ['loud', 'JSON'],
    TIME: ['soon', '5', '-1s', '1.5s', '9999999h', 'NaN'],
    N: ['x', '-1', '1.5', 'NaN', '1e3', '9'.repeat(30)],
    'PROVIDER=URL': ['x', 'x=', 'x=ftp://y', '=http://y'],
    URL: ['x', 'ftp://x', 'http://', 'http://u:p@x', 'http://x/?q', 'http://x/#f'],
    HOST: ['http://x', 'a b', 'x:80/', 'x:80'],
    ORIGIN: ['localhost:5173', 'http://x/y', 'null', 'a b'],
    PREFIX: ['a b', '-x', 'ü'],
    MODE: ['maybe', 'true'],
    SIZE: ['x', '-1', '1.5MiB', '1MB', 'NaN'],
  };
  for (const [command, ...program] of [['start'], ['exec', '--', 'true']] as const) {
    for (const { flag, variable, value, isSwitch } of optionRows()) {
      if (isSwitch) {
        for (const name of [flag, `no-${flag}`]) {
          for (const text of ['maybe', 'true', ''])
            await refused(t, [command, `--${name}=${text}`, ...program], new RegExp(`^--${name} takes no value`));
          await refused(
            t,
            [command, `--${name}`, `--${flag}`, ...program],
            new RegExp(`^--${flag} was given more than once`),
          );
        }
        await refused(t, [command, ...program], new RegExp(`^${variable} must be true or false`), {
          [variable]: 'maybe',
        });
        continue;
      }
      const values = bad[value];
      t.ok(values, `${value} is known`);
      // Skip the flags `seed` and `ready-file`. Any text is a valid seed, and a ready file is written only after all
      // other options were checked.
      const isTold = flag !== 'seed' && flag !== 'ready-file';
      for (const text of isTold ? values! : []) {
        await refused(t, [command, `--${flag}=${text}`, ...program], new RegExp(`^--${flag} `));
        await refused(t, [command, ...program], new RegExp(`^${variable} `), { [variable]: text });
      }
      await refused(t, [command, `--${flag}=`, ...program], new RegExp(`^--${flag} `));
      await refused(t, [command, `--${flag}`, ...program], new RegExp(`^--${flag} needs a value`));
    }
  }
});

/** TCP servers that are not emulators, by their behaviour. Commands must report an error for each. */
const STRANGERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'accepts and never answers': () => {},
  'closes at once': (socket) => void socket.destroy(),
  'says something else': (socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'answers 404': (socket) => void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno'),
  'answers 101': (socket) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  'breaks off': (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n{"emulator":true}'),
  'sends on and on': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const timer = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => clearInterval(timer));
  },
  'never ends its head': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('a: b\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  },
};

t.test('health and wait report in bounded time that no emulator answers', async (t) => {
  for (const [name, act] of Object.entries(STRANGERS)) {
    const { url, server } = await listen(
      t,
      createServer((socket) => act(socket.on('error', () => {}))),
    );
    for (const argv of [['health'], ['wait', '--timeout', '300ms']]) {
      const { code, out, err } = await run([...argv, '--url', url]);
      t.same([code, out], [3, ''], `${name}: ${argv[0]}`);
      t.match(err, /^No emulator at http[^\n]+\.\n$/);
    }
    server.close();
  }
});

async function listen(test: Test, server: Server): Promise<{ url: string; server: Server }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => open.add(socket));
  test.teardown(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

t.test('wait follows a ready file and a process', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'ready.json');
  const emulator = createHttpServer((_request, response) => void response.end('{"emulator":true}'));
  const { url } = await listen(t, emulator);
  const waiting = (...argv: string[]) => run(['wait', '--timeout', '24h', ...argv]);
  const write = (about: object) => writeFileSync(file, JSON.stringify(about));

  const sleeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  t.teardown(() => sleeper.kill('SIGKILL'));
  const pid = sleeper.pid!;
  const found = waiting('--ready-file', file, '--pid', String(pid));
  writeFileSync(file, '{');
  write({ base_url: url, pid });
  t.same(await found, { code: 0, out: '', err: '' }, 'as soon as the file says where');

  const gone = new Promise((resolve) => sleeper.once('exit', resolve));
  const { url: silent } = await listen(t, createServer());
  write({ base_url: silent, pid });
  const byFile = waiting('--ready-file', file);
  const byProcess = waiting('--url', silent, '--pid', String(pid));
  sleeper.kill();
  await gone;
  t.match(await byFile, { code: 3, err: /process \d+, which wrote the file, has ended\.\n$/ });
  t.match(await byProcess, { code: 3, err: /process \d+ has ended\.\n$/ });
  t.match(await waiting('--url', url, '--pid', String(pid)), { code: 3 }, 'what answers is another one');
  write({ base_url: url, pid });
  t.match(await waiting('--ready-file', file), { code: 0 }, 'one that answers runs, if only in another container');
  t.match(await run(['wait', '--ready-file', join(folder, 'absent'), '--timeout', '50ms']), { code: 3 });
});

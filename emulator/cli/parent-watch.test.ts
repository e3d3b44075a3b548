import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { isAlive } from '../system/process-owner.js';
import { isWrapper } from './parent-watch.js';
import { readReady } from './ready.js';

const BIN = fileURLToPath(new URL('../../../bin/emulator.js', import.meta.url));
const EMULATOR = `'${process.execPath}' '${BIN}'`;

/**
 * Ways in which a parent process can start an emulator. `; true` prevents the shell from replacing itself with the
 * emulator.
 */
const STARTS: Readonly<Record<string, (start: string) => readonly string[]>> = {
  'with nothing in between': (flags) => [process.execPath, BIN, ...flags.split(' ')],
  'by a shell that waits for it': (flags) => ['sh', '-c', `${EMULATOR} ${flags}; true`],
  'by two shells with options': (flags) => ['bash', '-eo', 'pipefail', '-c', `sh -c "${EMULATOR} ${flags}; :"; true`],
  'by npx': (flags) => ['npx', 'emulator', ...flags.split(' ')],
  'by npm below a shell': (flags) => ['sh', '-c', `npm exec -- emulator ${flags}; true`],
};

/** Starts a parent process that only starts the emulator. `name` selects the way from `STARTS`. */
async function startedByParent(t: Test, name: string, ...flags: string[]) {
  // Create a project with the package installed. npx then finds the command and installs nothing.
  const project = t.testdir({ node_modules: { '.bin': { emulator: t.fixture('symlink', BIN) } } });
  const file = join(project, 'ready.json');
  const argv = STARTS[name]!(`start --port 0 --log quiet --ready-file ${file} ${flags.join(' ')}`.trim());
  const script = `require('child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: 'ignore' });`;
  const parent = spawn(process.execPath, ['-e', script, ...argv], { stdio: 'ignore', cwd: project });
  t.teardown(() => parent.kill('SIGKILL'));
  let ready = await readReady(file);
  for (; !ready && parent.exitCode === null; ready = await readReady(file)) await pause(20);
  if (!ready) throw new Error(`started ${name}, it ended before it was ready`);
  const { pid, url } = ready;
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The emulator has ended before.
    }
  });
  return { parent, pid, url, file };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function untilEnded(pid: number): Promise<void> {
  while (isAlive(pid)) await pause(20);
}

// Run three tests at a time, because each test mostly waits for processes.
t.jobs = 3;

for (const name of Object.keys(STARTS)) {
  t.test(`an emulator that was started ${name} ends when its parent was killed`, { buffered: true }, async (t) => {
    const { parent, pid, file } = await startedByParent(t, name, '--exit-with-parent');
    await pause(600);
    t.ok(isAlive(pid), 'not before');
    await kill(parent);
    await untilEnded(pid);
    t.notOk(existsSync(file), 'it takes its ready file with it');
  });
}

t.test('running requests are finished first', async (t) => {
  const { parent, pid, url } = await startedByParent(t, 'with nothing in between', '--exit-with-parent');
  const headers = { 'x-emulator-fault': 'latency;ms=1500' };
  const response = fetch(`${url}/api/repos`, { headers });
  await pause(300);
  await kill(parent);
  t.equal((await response).status, 401);
  await untilEnded(pid);
});

t.test('without the flag the emulator keeps running', async (t) => {
  const { parent, pid, url } = await startedByParent(t, 'with nothing in between');
  await kill(parent);
  await pause(600);
  t.equal((await fetch(`${url}/_emulator/health`)).status, 200);
  process.kill(pid, 'SIGTERM');
  await untilEnded(pid);
});

t.test('a parent that has ended before the first check is detected', async (t) => {
  // Create a project with the package installed. npx then finds the command and installs nothing.
  const project = t.testdir({ node_modules: { '.bin': { emulator: t.fixture('symlink', BIN) } } });
  const file = join(project, 'ready.json');
  // Let the shell end at once, so that the emulator loses its parent. The emulator does not lead its session.
  const line = `${EMULATOR} start --port 0 --exit-with-parent --ready-file '${file}' >/dev/null 2>&1 & echo $!`;
  const shell = spawn('sh', ['-c', line], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  let out = '';
  for await (const part of shell.stdout) out += String(part);
  await untilEnded(Number(out));
  t.notOk(existsSync(file));
});

t.test('a wrapper that only runs another command is distinguished from a program', async (t) => {
  for (const [line, expected] of [
    ['sh|-c|emulator start', true],
    ['/bin/bash|-lc|emulator start', true],
    ['bash|--norc|-eo|pipefail|-c|emulator start', true],
    ['-zsh|-c|x', true],
    ['/opt/a b/sh|-c|x', true],
    ['npm exec emulator start', true],
    ['npm run dev', true],
    ['node|/usr/lib/node_modules/npm/bin/npx-cli.js|emulator', true],
    ['/usr/bin/node|--no-warnings|/usr/bin/npx|emulator', true],
    ['node|/usr/bin/pnpm.cjs|exec|emulator', true],
    ['timeout|60|emulator|start', true],
    ['', false],
    ['bash', false],
    ['bash|test.sh|-c', false],
    ['bash|-e|test.sh', false],
    ['-bash', false],
    ['node|test.js', false],
    ['node|--test', false],
    ['python3|-c|import subprocess', false],
    ['/usr/bin/npm-watch', false],
  ] as const)
    t.equal(isWrapper(line.split('|')), expected, line);
});

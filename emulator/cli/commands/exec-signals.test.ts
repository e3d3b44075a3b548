import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { isAlive } from '../../system/process-owner.js';
import { type CliProcess, EMULATOR, ended, spawnCli } from '../../test/cli-process.js';
import { readReady } from '../ready.js';

async function said(child: CliProcess, words: string): Promise<void> {
  while (!child.said.out.includes(words)) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${child.said.err}`);
    await pause(10);
  }
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/_emulator/health`).then(
    () => true,
    () => false,
  );
}

async function untilEnded(...pids: number[]): Promise<void> {
  while (pids.some(isAlive)) await pause(20);
}

t.test('signals are passed to the command, and exec exits when the command does', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    const handled = `process.on('${signal}', () => process.exit(42)); setInterval(() => {}, 1e6); console.log('up')`;
    const ignored = `process.on('${signal}', () => console.log('got')); setInterval(() => {}, 1e6); console.log('up')`;
    const dies = `console.log('up'); setInterval(() => {}, 1e6)`;
    const run = (script: string) => spawnCli(t, ['exec', '--log', 'quiet', '--', process.execPath, '-e', script]);
    const [first, second, third] = [run(handled), run(dies), run(ignored)];
    const ends = [ended(first), ended(second)];
    for (const child of [first, second, third]) {
      await said(child, 'up');
      child.kill(signal);
    }
    t.same(await ends[0], [42, null], signal);
    t.same(await ends[1], [128 + constants.signals[signal], null]);
    for (const times of [1, 2]) {
      await said(third, 'got\n'.repeat(times));
      t.equal(third.exitCode, null, 'a command that goes on is waited for');
      third.kill(signal);
    }
    third.kill('SIGKILL');
  }
});

t.test('child processes of the command get its signals as well', async (t) => {
  // Let Node handle the signal instead of the shell. A shell would wait for its child process, which does not receive
  // the signal.
  const script = `process.on("SIGTERM", () => process.exit(42)); setInterval(() => {}, 1e6); console.log("up")`;
  const inner = `'${process.execPath}' -e '${script}'; exit $?`;
  const child = spawnCli(t, ['exec', '--log', 'quiet', '--', 'sh', '-c', `trap : TERM; ${inner}`]);
  const end = ended(child);
  await said(child, 'up');
  child.kill('SIGTERM');
  t.same(await end, [42, null]);
});

t.test('a signal while the emulator starts ends it, and the command does not run', async (t) => {
  const ran = join(t.testdir({}), 'ran');
  for (let delay = 40; delay <= 240; delay += 40) {
    const child = spawnCli(t, ['exec', '--', 'sh', '-c', `touch '${ran}'; sleep 1000`]);
    await pause(delay);
    child.kill('SIGTERM');
    const [code, signal] = await ended(child);
    t.ok(code === 143 || signal === 'SIGTERM', `${delay} ms: ${code} ${signal}`);
  }
});

/** Shell command that starts a second process. It prints the ids of both processes and the emulator's address. */
const FAMILY = `sh -c 'echo $$; exec sleep 1000' & echo $$ "$EMULATOR_URL"; wait`;

t.test('if exec is killed, its processes and temporary files are removed', async (t) => {
  const child = spawnCli(t, ['exec', '--log', 'quiet', '--', 'sh', '-c', FAMILY]);
  while (child.said.out.split('\n').length < 3) await pause(10);
  const pids = child.said.out.match(/^\d+/gm)!.map(Number);
  const url = /http\S+/.exec(child.said.out)![0];
  const end = ended(child);
  t.same([pids.length, await answers(url)], [2, true]);
  child.kill('SIGKILL');
  await untilEnded(...pids);
  t.notOk(await answers(url));
  t.same(await end, [null, 'SIGKILL'], 'and nobody holds its streams');
});

t.test('--exit-with-parent ends the command with the process that started it', async (t) => {
  const file = join(t.testdir({}), 'ready.json');
  const flags = `--exit-with-parent --drain-timeout 300ms --log quiet --ready-file '${file}'`;
  const line = `${EMULATOR} exec ${flags} -- sh -c 'trap "" TERM; sleep 1000'; true`;
  const parent = spawn('sh', ['-c', line], { stdio: 'ignore' });
  let ready = await readReady(file);
  for (; !ready; ready = await readReady(file)) await pause(20);
  t.teardown(() => isAlive(ready.pid) && process.kill(ready.pid, 'SIGKILL'));
  parent.kill('SIGKILL');
  await untilEnded(ready.pid);
  t.notOk(existsSync(file));
});

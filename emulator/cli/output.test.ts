import { closeSync, openSync } from 'node:fs';
import t from 'tap';
import { startEmulator } from '../index.js';
import { ended, spawnCli } from '../test/cli-process.js';
import { sample } from '../test/sample.js';
import { commands } from './commands.js';

/** Arguments with which a command prints something. Commands that are missing here need none. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  token: ['--repo', 'a'],
  start: ['--port', '0'],
  repo: ['ls'],
  fault: ['ls'],
  latch: ['release', 'x'],
  namespace: ['add'],
  scenario: ['ls'],
  snapshot: ['ls'],
};

/** Command lines that print help or the version. All commands share the code for this output. */
const PRINTED_FOR_ALL = [['start', '--help'], ['exec', '--help'], ['--help'], ['--version']];

t.test('a command whose output nobody reads ends quietly', async (t) => {
  await using emulator = await startEmulator({ port: 0, tls: true });
  for (const argv of sample(t, [...PRINTED_FOR_ALL, ...lists(emulator.baseUrl)], 8)) {
    const child = spawnCli(t, argv);
    child.stdout!.destroy();
    t.same(await ended(child), [0, null], argv.join(' '));
    t.equal(child.said.err, '');
  }
});

t.test('output to a full disk results in one sentence and exit code 2', async (t) => {
  await using emulator = await startEmulator({ port: 0, tls: true });
  for (const argv of sample(t, [...PRINTED_FOR_ALL, ...lists(emulator.baseUrl)], 8)) {
    // Send a request first, because some commands print the recorded requests and another command deletes them.
    await fetch(`${emulator.baseUrl}/api/repos`);
    const out = openSync('/dev/full', 'w');
    const child = spawnCli(t, argv, { out });
    closeSync(out);
    t.same(await ended(child), [2, null], argv.join(' '));
    t.match(child.said.err, /^Standard output cannot be written: ENOSPC[^\n]*\.\n$/);
  }
});

t.test('error messages that cannot be written do not change the exit code', async (t) => {
  for (const full of [true, false]) {
    for (const argv of [['start', '--nonsense'], ['token', '--nonsense'], [], ['nonsense']]) {
      const err = full ? openSync('/dev/full', 'w') : 'pipe';
      const child = spawnCli(t, argv, { err });
      if (typeof err === 'number') closeSync(err);
      else child.stderr!.destroy();
      t.same(await ended(child), [2, null], argv.join(' '));
    }
  }
});

/** Commands that this test skips. Their output is not their main effect, or they wait for an event. */
const OTHERS = ['start', 'exec', 'stop', 'wait', 'health', 'credential', 'export', 'import', 'record'];

/**
 * Returns command lines that print something and end. If a command needs an emulator, the command line contains `url`.
 */
function lists(url: string): string[][] {
  return commands
    .filter(({ name }) => !OTHERS.includes(name))
    .map(({ name, flags = {} }) => [
      name,
      ...(ARGUMENTS[name] ?? []),
      ...('admin-token' in flags ? ['--url', url] : []),
    ]);
}

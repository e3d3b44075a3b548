import { closeSync, openSync } from 'node:fs';
import t from 'tap';
import { startEmulator } from '../index.js';
import { ended, spawnCli } from '../test/cli-process.js';
import { sample } from '../test/sample.js';
import { commands } from './commands.js';

/** Arguments that a command needs so that it prints something, by command. Other commands need no arguments. */
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

/** Command lines whose output (help or version) the same code prints for all commands. */
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
    // Send a request before each command, because some commands print the recorded requests, and another command has
    // deleted them.
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

/**
 * Commands that this test leaves out, because their main effect is not their output, or because they wait for an event.
 */
const OTHERS = ['start', 'exec', 'stop', 'wait', 'health', 'credential', 'export', 'import'];

/** Returns command lines that print something and end. Commands that contact an emulator contact the one at `url`. */
function lists(url: string): string[][] {
  return commands
    .filter(({ name }) => !OTHERS.includes(name))
    .map(({ name, flags = {} }) => [
      name,
      ...(ARGUMENTS[name] ?? []),
      ...('admin-token' in flags ? ['--url', url] : []),
    ]);
}

import { closeSync, openSync } from 'node:fs';
import t from 'tap';
import { startEmulator } from '../index.js';
import { ended, spawnCli } from '../test/cli-process.js';
import { sample } from '../test/sample.js';
import { commands } from './commands.js';

/** What a command needs to print something; most need nothing. */
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

/** The help of every command is printed by the same lines. */
const PRINTED_FOR_ALL = [['start', '--help'], ['exec', '--help'], ['--help'], ['--version']];

t.test('output that nobody reads ends every command quietly', async (t) => {
  await using emulator = await startEmulator({ port: 0, tls: true });
  for (const argv of sample(t, [...PRINTED_FOR_ALL, ...lists(emulator.baseUrl)], 8)) {
    const child = spawnCli(t, argv);
    child.stdout!.destroy();
    t.same(await ended(child), [0, null], argv.join(' '));
    t.equal(child.said.err, '');
  }
});

t.test('output that does not fit is one sentence and exit 2, from every command', async (t) => {
  await using emulator = await startEmulator({ port: 0, tls: true });
  for (const argv of sample(t, [...PRINTED_FOR_ALL, ...lists(emulator.baseUrl)], 8)) {
    // One of the commands prints requests, another one has just forgotten them.
    await fetch(`${emulator.baseUrl}/api/repos`);
    const out = openSync('/dev/full', 'w');
    const child = spawnCli(t, argv, { out });
    closeSync(out);
    t.same(await ended(child), [2, null], argv.join(' '));
    t.match(child.said.err, /^Standard output cannot be written: ENOSPC[^\n]*\.\n$/);
  }
});

t.test('complaints that cannot be written change no exit code', async (t) => {
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

/** What they print is not what they are for, or they wait for something. */
const OTHERS = ['start', 'exec', 'stop', 'wait', 'health', 'credential', 'export', 'import'];

/** Commands that print by themselves and end; those that ask an emulator ask the one at `url`. */
function lists(url: string): string[][] {
  return commands
    .filter(({ name }) => !OTHERS.includes(name))
    .map(({ name, flags = {} }) => [
      name,
      ...(ARGUMENTS[name] ?? []),
      ...('admin-token' in flags ? ['--url', url] : []),
    ]);
}

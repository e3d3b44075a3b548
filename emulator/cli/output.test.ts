import { closeSync, openSync } from 'node:fs';
import t from 'tap';
import { ended, spawnCli } from '../test/cli-process.js';
import { commands } from './commands.js';

/** What a command needs to print something; most need nothing. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  token: ['--repo', 'a'],
  start: ['--port', '0'],
};

/** The help of every command is printed by the same lines. */
const PRINTED_FOR_ALL = [['start', '--help'], ['--help'], ['--version']];

t.test('output that nobody reads ends every command quietly', async (t) => {
  for (const argv of [...PRINTED_FOR_ALL, ...lists()]) {
    const child = spawnCli(t, argv);
    child.stdout!.destroy();
    t.same(await ended(child), [0, null], argv.join(' '));
    t.equal(child.said.err, '');
  }
});

t.test('output that does not fit is one sentence and exit 2, from every command', async (t) => {
  for (const argv of [...PRINTED_FOR_ALL, ...lists()]) {
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

/** Commands that print by themselves and end. */
function lists(): string[][] {
  return commands
    .filter(({ name }) => !['start', 'wait', 'health'].includes(name))
    .map(({ name }) => [name, ...(ARGUMENTS[name] ?? [])]);
}

import type { Argv } from 'yargs';
import { optionRows } from '../../config/options.js';
import type { Command } from '../command.js';
import { readFlags } from '../flags.js';
import { runStart } from '../run-start.js';

/**
 * Command `emulator start`, declared to yargs for its help, and for command lines with flags before the command. Its
 * flags come from the table of all options.
 */
export const startCommand: Command = {
  name: 'start',
  module: (session) => ({
    command: 'start',
    describe: 'Start an emulator, which runs until Ctrl-C or `emulator stop`',
    builder: (command) => declareStartFlags(command),
    handler: async () => {
      session.exitCode = await runStart(readFlags(session.argv), session.terminal);
    },
  }),
};

/**
 * Declares all options of an emulator to yargs as flags. `defaults` contains the defaults that differ from those of
 * `emulator start`, by flag.
 */
export function declareStartFlags(command: Argv, defaults: Readonly<Record<string, string>> = {}): Argv {
  for (const row of optionRows()) {
    const standard = defaults[row.flag] ?? row.shownDefault;
    const shown = standard === '' ? '' : ` [${standard}]`;
    if (row.isSwitch) {
      const group = 'Options:';
      command.option(row.flag, { type: 'boolean', group, describe: `${row.help} ${row.variable}` });
      command.option(`no-${row.flag}`, { type: 'boolean', group, describe: `The opposite of --${row.flag}.` });
      continue;
    }
    command.option(row.flag, {
      type: 'string',
      array: row.repeatable,
      requiresArg: true,
      group: row.isLimit ? 'Limits:' : 'Options:',
      describe: `${row.help} ${row.value}, ${row.variable}${shown}`,
    });
  }
  return command;
}

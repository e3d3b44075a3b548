import { optionRows } from '../config/options.js';
import type { Command } from './command.js';
import { runStart } from './run-start.js';

/** `emulator start`: for its help, and for command lines with flags before the command. Its flags are the table of options. */
export const startCommand: Command = {
  name: 'start',
  module: (session) => ({
    command: 'start',
    describe: 'Start the service and serve until stopped',
    builder: (command) => {
      for (const row of optionRows()) {
        const shown = row.shownDefault === '' ? '' : ` [${row.shownDefault}]`;
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
    },
    handler: async (args) => {
      const flags: Record<string, readonly string[]> = {};
      for (const { flag, isSwitch } of optionRows()) {
        const value = isSwitch && args[`no-${flag}`] === true ? false : args[flag];
        if (value !== undefined) flags[flag] = [value].flat().map(String);
      }
      session.exitCode = await runStart(flags, session.terminal);
    },
  }),
};

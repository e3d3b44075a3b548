import type { CommandModule } from 'yargs';
import { type Flags, optionRows } from '../options.js';
import { runStart } from './run-start.js';
import type { Session } from './session.js';

/** `emulator start`: for its help, and for whoever puts flags before the command. */
export function startCommand(session: Session): CommandModule {
  return {
    command: 'start',
    describe: 'Start the service and serve until stopped',
    builder: (command) => {
      for (const row of optionRows()) {
        const shown = row.shownDefault === '' ? '' : ` [${row.shownDefault}]`;
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
      for (const { flag } of optionRows()) {
        const value = args[flag];
        if (value !== undefined) flags[flag] = [value].flat().map(String);
      }
      session.exitCode = await runStart(flags satisfies Flags, session.terminal);
    },
  };
}

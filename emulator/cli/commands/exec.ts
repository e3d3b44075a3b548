import { HOST_FLAGS } from '../built-in-hosts.js';
import type { Command } from '../command.js';
import { runExec } from '../run-exec.js';
import { HTTPS_VARIABLES, TOKEN_FLAGS, VARIABLES } from '../variables.js';
import { declareStartFlags, typedStartFlags } from './start.js';

/** `emulator exec`: for its help, and for command lines with flags before the command. */
export const execCommand: Command = {
  name: 'exec',
  module: (session) => ({
    command: 'exec',
    describe: 'Start the service, run the command behind -- with its address, and stop when that ends',
    builder: (command) => {
      for (const [flag, { describe }] of Object.entries(HOST_FLAGS)) {
        command.option(flag, { type: 'string', array: true, requiresArg: true, group: 'Hosts:', describe });
      }
      for (const [flag, { describe, ...row }] of Object.entries(TOKEN_FLAGS)) {
        const shown = 'default' in row ? ` [${row.default}]` : '';
        command.option(flag, {
          type: 'string',
          array: 'repeatable' in row,
          requiresArg: true,
          group: 'Token:',
          describe: `${describe}${shown}`,
        });
      }
      const lines = [...VARIABLES, ...HTTPS_VARIABLES].map(({ name, about }) => `  ${name.padEnd(22)} ${about}`);
      return declareStartFlags(command, { port: '0' })
        .usage('$0 exec [flags] -- COMMAND [ARGUMENTS]')
        .epilogue(`Exported to the command:\n${lines.join('\n')}`);
    },
    handler: async (args) => {
      const flags = typedStartFlags(args);
      for (const flag of [...Object.keys(TOKEN_FLAGS), ...Object.keys(HOST_FLAGS)]) {
        if (args[flag] !== undefined) flags[flag] = [args[flag]].flat().map(String);
      }
      const end = session.argv.indexOf('--');
      session.exitCode = await runExec(flags, end < 0 ? [] : session.argv.slice(end + 1), session.terminal);
    },
  }),
};

import { HTTPS_VARIABLES, VARIABLES } from '../../admin/exec-variables.js';
import { HOST_FLAGS } from '../built-in-hosts.js';
import type { Command } from '../command.js';
import { readFlags, splitProgram } from '../flags.js';
import { EXEC, runExec } from '../run-exec.js';
import { TOKEN_FLAGS } from '../variables.js';
import { declareStartFlags } from './start.js';

/** Command `emulator exec`, declared to yargs for its help, and for command lines with flags before the command. */
export const execCommand: Command = {
  name: 'exec',
  module: (session) => ({
    command: 'exec',
    describe:
      'Start an emulator, run the command after -- with its address in the environment, and stop when the command ends',
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
      command.option('verify', {
        type: 'boolean',
        describe:
          'When the command ends, check its requests against the rules for clients and the running scenarios; exit status 1 if one is not met',
      });
      const lines = [...VARIABLES, ...HTTPS_VARIABLES].map(({ name, about }) => `  ${name.padEnd(22)} ${about}`);
      return declareStartFlags(command, { port: '0' })
        .usage('$0 exec [flags] -- COMMAND [ARGUMENTS]')
        .epilogue(`Exported to the command:\n${lines.join('\n')}`);
    },
    handler: async () => {
      const [own, program] = splitProgram(session.argv);
      session.exitCode = await runExec(readFlags(own, EXEC), program, session.terminal);
    },
  }),
};

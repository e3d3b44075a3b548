import type { Command } from '../command.js';
import { readFlags, splitProgram } from '../flags.js';
import { RECORD, RECORD_FLAGS, runRecord } from '../record/run-record.js';

/** Command `emulator record`: records the requests of a command to a real deployment. */
export const recordCommand: Command = {
  name: 'record',
  module: (session) => ({
    command: 'record',
    describe: 'Run the command after --, and record its requests to a real deployment as an HTTP Archive',
    builder: (command) => {
      for (const [flag, row] of Object.entries(RECORD_FLAGS)) {
        const value = 'read' in row ? ({ type: 'string', requiresArg: true } as const) : ({ type: 'boolean' } as const);
        command.option(flag, { ...value, array: 'repeatable' in row, describe: row.describe });
      }
      return command
        .usage('$0 record --api-url URL --out FILE [flags] -- COMMAND [ARGUMENTS]')
        .epilogue(
          'The command gets the address of the recording proxy in EMULATOR_URL and EMULATOR_GIT_URL. HTTPS clients of the deployment reach the proxy without configuration.',
        );
    },
    handler: async () => {
      const [own, program] = splitProgram(session.argv);
      session.exitCode = await runRecord(readFlags(own, RECORD), program, session.terminal);
    },
  }),
};

import { defineCommand } from './command.js';
import { readResult } from './read-result.js';
import { REPORT_FLAGS, readReportOutput } from './report-output.js';

export const reportCommand = defineCommand({
  name: 'report',
  arguments: ['result'],
  describe: 'Print a result of run --reporter json=FILE in another format',
  flags: REPORT_FLAGS,
  run: async (args, session, [file = '']) => {
    const write = await readReportOutput(args);
    await write(await readResult(file), session);
  },
});

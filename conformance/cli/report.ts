import { defineCommand } from './command.js';
import { readResult } from './read-result.js';
import { REPORT_FLAGS, readReportOutput } from './report-output.js';

export const reportCommand = defineCommand({
  name: 'report',
  arguments: ['result'],
  describe: 'Make any report from a result that run --reporter json=FILE wrote',
  flags: REPORT_FLAGS,
  run: async (args, session, [file = '']) => {
    const write = await readReportOutput(args);
    await write(await readResult(file), session);
  },
});

import { mergeReports, UnmergeableReports } from '../index.js';
import { defineCommand } from './command.js';
import { readResult } from './read-result.js';
import { REPORT_FLAGS, readReportOutput } from './report-output.js';
import { UsageError } from './usage-error.js';

export const mergeCommand = defineCommand({
  name: 'merge',
  arguments: ['results..'],
  describe: 'Merge the results of all shards of a run into one result',
  flags: REPORT_FLAGS,
  run: async (args, session, files) => {
    const write = await readReportOutput(args);
    const reports = await Promise.all(files.map(readResult));
    await write(merge(reports), session);
  },
});

function merge(reports: Parameters<typeof mergeReports>[0]) {
  try {
    return mergeReports(reports);
  } catch (error) {
    throw error instanceof UnmergeableReports ? new UsageError(error.message) : error;
  }
}

import { writeBaseline } from '../report/baseline.js';
import { defineCommand } from './command.js';
import { NEW_FILE_FLAGS, openNewFile } from './new-file.js';
import { readResult } from './read-result.js';
import { date, text } from './values.js';

/** Default lifetime of a new baseline entry in days, counted from today. The entry expects a failure until then. */
const USUAL_DAYS = 90;

export const baselineCommand = defineCommand({
  name: 'baseline',
  arguments: ['result'],
  describe: 'Write a first baseline with every rule that made a run fail as an expected failure',
  flags: {
    reason: { read: text('a reason'), describe: 'Reason for the expected failures; default: the day of the run' },
    expires: {
      read: date,
      describe: `Last day on which the failures are expected; default: ${USUAL_DAYS} days from now`,
    },
    ...NEW_FILE_FLAGS,
  },
  needs: [['force', 'output']],
  run: async (args, session, [file = '']) => {
    const write = await openNewFile(args);
    const report = await readResult(file);
    const now = Date.now();
    const later = new Date(now + USUAL_DAYS * 86_400_000).toISOString().slice(0, 10);
    const today = new Date(now).toISOString().slice(0, 10);
    if (report.interrupted || report.ended !== undefined) {
      session.warn(`${file} is of a run that ended early; rules that it did not check are not in the baseline\n`);
    }
    const { reason, expires = later } = args;
    await write(writeBaseline(report, { reason, expires, today }), session);
  },
});

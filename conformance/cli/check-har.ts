import { readHar } from '../http/har.js';
import { originOf } from '../index.js';
import { selectSome } from '../run/options.js';
import { checkRecorded } from '../run/recorded.js';
import { LARGE_FILE } from '../target/text-file.js';
import { defineCommand } from './command.js';
import { readInput } from './read-result.js';
import { REPORT_FLAGS, readReportOutput } from './report-output.js';
import { UsageError } from './usage-error.js';
import { httpAddress, text } from './values.js';

export const checkHarCommand = defineCommand({
  name: 'check-har',
  arguments: ['file'],
  describe: 'Check recorded traffic (HTTP Archive 1.2) by the rules that apply to every response',
  flags: {
    'base-url': {
      read: httpAddress,
      describe: 'Address of the requests to check; default: all requests to /api/ and Git',
    },
    only: {
      read: text('ids of rules'),
      describe: 'Ids of the rules to check, separated by commas; `*` matches any characters',
    },
    strict: { describe: 'Warnings fail the run as well' },
    ...REPORT_FLAGS,
  },
  run: async (args, session, [file = '']) => {
    const { only, strict, 'base-url': address } = args;
    const rules = selectSome(only);
    if (rules.every((rule) => rule.watch === undefined)) {
      throw new UsageError(`no rule of ${only} can be checked on recorded traffic`);
    }
    const write = await readReportOutput(args);
    const report = checkRecorded(await readInput(file, readHar, { limit: LARGE_FILE }), {
      rules,
      strict,
      now: Date.now,
      only,
      origin: address === undefined ? undefined : originOf(address),
    });
    await write(report, session);
  },
});

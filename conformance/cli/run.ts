import { allRules, run, selectRules, startEmulator } from '../index.js';
import type { Target } from '../target/target.js';
import { defineCommand, type Flags, type Session, type Values } from './command.js';
import { createProgress } from './progress.js';
import { REPORT_FLAGS, type ReportOutput, readReportOutput } from './report-output.js';
import { readTarget, TARGET_FLAGS, TARGET_NEEDS, targetFlags } from './target-options.js';
import { UsageError } from './usage-error.js';
import { rate, text, wholeNumber } from './values.js';

const FLAGS = {
  ...TARGET_FLAGS,
  only: { read: text('ids of rules'), describe: 'Rules to run: ids, `*` for anything, joined by commas' },
  strict: { describe: 'Warnings and tolerated variants fail the run' },
  ...REPORT_FLAGS,
  quiet: { describe: 'Show no progress on standard error' },
  timeout: { read: wholeNumber(), default: '15000', describe: 'Milliseconds for one answer' },
  rate: { read: rate, describe: 'Requests a second; default: 5, without limit on an emulator' },
} satisfies Flags;

type RunArguments = Values<typeof FLAGS>;

export const runCommand = defineCommand({
  name: 'run',
  describe: 'Judge a target; without --base-url, the emulator of this package',
  flags: FLAGS,
  needs: TARGET_NEEDS,
  run: async (args, session) => {
    const abort = new AbortController();
    const interrupt = () => abort.abort();
    process.once('SIGINT', interrupt);
    process.once('SIGTERM', interrupt);
    try {
      await judge(args, session, abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      session.warn(`${error instanceof Error ? error.message : String(error)}\n`);
      session.exitCode = 130;
    } finally {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
    }
  },
});

/** Judges the target of the arguments, or the emulator of the package, and writes the reports. */
async function judge(args: RunArguments, session: Session, signal: AbortSignal): Promise<void> {
  const output = await readReportOutput(args);
  if (selectRules(allRules(), args.only).length === 0) throw new UsageError(`no rule is called ${args.only}`);
  const given = await readTarget(args, args.timeout);
  if (given !== undefined) return judgeTarget(given, args, output, session, signal);
  const emulator = await startEmulator();
  try {
    await judgeTarget(emulator.target, args, output, session, signal);
  } finally {
    await emulator.stop();
  }
}

async function judgeTarget(
  target: Target,
  args: RunArguments,
  output: ReportOutput,
  session: Session,
  signal: AbortSignal,
): Promise<void> {
  const { columns } = process.stderr;
  const stream = { isTTY: process.stderr.isTTY === true, columns, write: session.warn };
  const progress = createProgress(stream, args.quiet, () => performance.now());
  try {
    const report = await run(target, {
      strict: args.strict,
      timeout: args.timeout,
      signal,
      flags: targetFlags(args),
      onResult: progress.count,
      onProgress: progress.tell,
      ...(args.only === undefined ? {} : { only: args.only }),
      ...(args.rate === undefined ? {} : { rate: args.rate }),
    });
    progress.clear();
    await output.write(report, session);
  } finally {
    progress.clear();
  }
}

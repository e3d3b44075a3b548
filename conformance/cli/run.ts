import { allRules, openScratch, run, type Scratch, selectRules, startEmulator } from '../index.js';
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
    const interruption = new Interruption(session);
    try {
      await judge(args, session, interruption);
    } catch (error) {
      if (!interruption.signal.aborted) throw error;
      session.warn(`${error instanceof Error ? error.message : String(error)}\n`);
      session.exitCode = 130;
    } finally {
      interruption.dispose();
    }
  },
});

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** The first signal ends the run, which still reports and cleans up; the second ends the process at once. */
class Interruption {
  scratch: Scratch | undefined;
  readonly #abort = new AbortController();

  constructor(readonly session: Session) {
    for (const signal of SIGNALS) process.on(signal, this.#take);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  dispose(): void {
    for (const signal of SIGNALS) process.off(signal, this.#take);
  }

  readonly #take = (): void => {
    if (!this.signal.aborted) {
      this.#abort.abort();
      return;
    }
    const left = this.scratch?.left() ?? [];
    const names = left.length === 0 ? 'nothing' : left.join(', ');
    this.session.warn(`interrupted twice; left behind: ${names}\n`);
    process.exit(130);
  };
}

/** Judges the target of the arguments, or the emulator of the package, and writes the reports. */
async function judge(args: RunArguments, session: Session, interruption: Interruption): Promise<void> {
  const output = await readReportOutput(args);
  if (selectRules(allRules(), args.only).length === 0) throw new UsageError(`no rule is called ${args.only}`);
  const given = await readTarget(args, args.timeout);
  if (given !== undefined) return judgeTarget(given, args, output, session, interruption);
  const emulator = await startEmulator();
  try {
    await judgeTarget(emulator.target, args, output, session, interruption);
  } finally {
    await emulator.stop();
  }
}

async function judgeTarget(
  target: Target,
  args: RunArguments,
  output: ReportOutput,
  session: Session,
  interruption: Interruption,
): Promise<void> {
  const { columns } = process.stderr;
  const stream = { isTTY: process.stderr.isTTY === true, columns, write: session.warn };
  const progress = createProgress(stream, args.quiet, () => performance.now());
  const scratch = await openScratch({ target });
  interruption.scratch = scratch;
  try {
    const report = await run(target, {
      strict: args.strict,
      timeout: args.timeout,
      signal: interruption.signal,
      scratch,
      flags: targetFlags(args),
      onBudget: progress.plan,
      onResult: progress.show,
      onProgress: progress.move,
      ...(args.only === undefined ? {} : { only: args.only }),
      ...(args.rate === undefined ? {} : { rate: args.rate }),
    });
    progress.clear();
    await output.write(report, session);
  } finally {
    progress.clear();
  }
}

import { stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { allRules, openScratch, run, type Scratch, selectRules, startEmulator } from '../index.js';
import { REPORTERS, reporterOf } from '../report/reporters.js';
import type { Target } from '../target/target.js';
import { defineCommand, type Flags, type Session, type Values } from './command.js';
import { createProgress } from './progress.js';
import { readTarget, TARGET_FLAGS, TARGET_NEEDS } from './target-options.js';
import { UsageError } from './usage-error.js';
import { choice, rate, text, wholeNumber } from './values.js';

const FLAGS = {
  ...TARGET_FLAGS,
  only: { read: text('ids of rules'), describe: 'Rules to run: ids, `*` for anything, joined by commas' },
  strict: { describe: 'Warnings and tolerated variants fail the run' },
  reporter: { read: choice(REPORTERS), default: 'pretty', describe: `Format of the report: ${REPORTERS.join(', ')}` },
  output: { read: text('the name of a file'), describe: 'File for the report instead of standard output' },
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
      session.exitCode = await judge(args, session, interruption);
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

/** Judges the target of the arguments, or the emulator of the package, and gives the exit code. */
async function judge(args: RunArguments, session: Session, interruption: Interruption): Promise<number> {
  if (args.output !== undefined) await checkOutput(args.output);
  if (selectRules(allRules(), args.only).length === 0) throw new UsageError(`no rule is called ${args.only}`);
  const given = await readTarget(args, args.timeout);
  if (given !== undefined) return judgeTarget(given, args, session, interruption);
  const emulator = await startEmulator();
  try {
    return await judgeTarget(emulator.target, args, session, interruption);
  } finally {
    await emulator.stop();
  }
}

async function judgeTarget(
  target: Target,
  args: RunArguments,
  session: Session,
  interruption: Interruption,
): Promise<number> {
  const progress = createProgress(process.stderr);
  const scratch = await openScratch({ target });
  interruption.scratch = scratch;
  const report = await run(target, {
    strict: args.strict,
    timeout: args.timeout,
    signal: interruption.signal,
    scratch,
    onResult: progress.show,
    ...(args.only === undefined ? {} : { only: args.only }),
    ...(args.rate === undefined ? {} : { rate: args.rate }),
  });
  progress.clear();
  const color = args.output === undefined && process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const written = reporterOf(args.reporter, color)(report);
  if (args.output === undefined) session.print(written);
  else await writeFile(args.output, written);
  return report.exit_code;
}

/** A mistake in the name should not come to light after the run. */
async function checkOutput(file: string): Promise<void> {
  const folder = await stat(dirname(file)).catch(() => undefined);
  const found = await stat(file).catch(() => undefined);
  if (!folder?.isDirectory() || found?.isDirectory()) throw new UsageError(`--output cannot be written: ${file}`);
}

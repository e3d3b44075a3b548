import { writeFile } from 'node:fs/promises';
import type { Argv, CommandModule } from 'yargs';
import { EmptySelection, run, startEmulator, Unready } from '../index.js';
import { REPORTERS, reporterOf } from '../reporters/index.js';
import type { Report } from '../results.js';
import { createProgress } from './progress.js';
import { addTargetOptions, readTarget, type TargetArguments } from './target-options.js';

interface RunArguments extends TargetArguments {
  readonly only: string | undefined;
  readonly strict: boolean;
  readonly reporter: (typeof REPORTERS)[number];
  readonly output: string | undefined;
  readonly timeout: number;
  readonly rate: number | undefined;
}

export const runCommand: CommandModule<object, RunArguments> = {
  command: 'run',
  describe: 'Judge a target; without --base-url, the emulator of this package',
  builder: (yargs) =>
    addTargetOptions(yargs)
      .option('only', { type: 'string', describe: 'Rules to run: ids, `*` for anything, joined by commas' })
      .option('strict', { type: 'boolean', default: false, describe: 'Warnings and tolerated variants fail the run' })
      .option('reporter', { choices: REPORTERS, default: 'pretty' as const, describe: 'Format of the report' })
      .option('output', { type: 'string', describe: 'File for the report instead of standard output' })
      .option('timeout', { type: 'number', default: 15_000, describe: 'Milliseconds for one answer' })
      .option('rate', {
        type: 'number',
        describe: 'Requests a second; 5 unless the target is this machine',
      }) as Argv<RunArguments>,
  handler: async (args) => {
    process.exitCode = await judge(args);
  },
};

/** Runs the suite and gives the exit code. */
async function judge(args: RunArguments): Promise<number> {
  const abort = new AbortController();
  const interrupt = () => abort.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  let stop = () => Promise.resolve();
  try {
    let target = await readTarget(args);
    if (target === undefined) {
      const emulator = await startEmulator();
      ({ target, stop } = emulator);
    }
    const progress = createProgress(process.stderr);
    const report = await run(target, {
      strict: args.strict,
      timeout: args.timeout,
      signal: abort.signal,
      onResult: progress.show,
      ...(args.only === undefined ? {} : { only: args.only }),
      ...(args.rate === undefined ? {} : { rate: args.rate }),
    });
    progress.clear();
    await write(report, args);
    return report.exit_code;
  } catch (error) {
    return complain(error, abort.signal.aborted);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
    await stop();
  }
}

async function write(report: Report, args: RunArguments): Promise<void> {
  const color = args.output === undefined && process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  const text = reporterOf(args.reporter, color)(report);
  if (args.output !== undefined) await writeFile(args.output, text);
  else await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}

function complain(error: unknown, aborted: boolean): number {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n`);
  if (aborted) return 130;
  if (error instanceof Unready) return 3;
  if (error instanceof EmptySelection || (error as { usage?: unknown }).usage === true) return 2;
  if (error instanceof Error && error.stack !== undefined) process.stderr.write(`${error.stack}\n`);
  return 4;
}

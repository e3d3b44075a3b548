import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { markdown } from '../report/markdown.js';
import { REPORTERS, reporterOf } from '../report/reporters.js';
import type { Report } from '../report/results.js';
import type { Flags, Session, Values } from './command.js';
import { UsageError } from './usage-error.js';
import { choice, fileName, type Read, text } from './values.js';
import { checkWritable, Unwritten, writeWhole } from './write-file.js';

/** Format of a report and its output file. `file` is undefined for standard output. */
interface NamedReporter<Name extends string> {
  readonly name: Name;
  readonly file?: string;
}

/** Returns a flag parser for `NAME` or `NAME=FILE`, where `NAME` is a report format. */
export function reporterFlag<const Name extends string>(names: readonly Name[]): Read<NamedReporter<Name>> {
  const read = choice(names);
  return (typed) => {
    const at = typed.indexOf('=');
    if (at < 0) return { name: read(typed) };
    return { name: read(typed.slice(0, at)), file: text(`NAME=FILE`)(typed.slice(at + 1)) };
  };
}

/** Command-line flags of every command that produces a report. */
export const REPORT_FLAGS = {
  reporter: {
    read: reporterFlag(REPORTERS),
    repeatable: true,
    describe: `Format of a report (default: pretty), with =FILE to write it to a file: ${REPORTERS.join(', ')}`,
  },
  output: { read: fileName, describe: 'File for the report instead of standard output' },
} satisfies Flags;

/**
 * Reads the report flags and checks that every output file can be written. Returns a function that writes a report to
 * all outputs and sets the exit code. Throws `UsageError` if a flag is invalid.
 */
export async function readReportOutput({ reporter, output }: Values<typeof REPORT_FLAGS>) {
  const wanted = reporter.length === 0 ? [{ name: 'pretty' as const }] : reporter;
  const outputs = await openOutputs(wanted, output);
  return async (report: Report, session: Session): Promise<void> => {
    const failures = await outputs((name, isShown) => reporterOf(name, isShown && showsColors())(report), session);
    if (wanted.some(({ name }) => name === 'github')) failures.push(...(await addSummary(report)));
    endWith(report.exit_code, failures, session);
  };
}

/**
 * Prints the failed writes as a warning and sets the exit code. The exit code is 4 if an output could not be written,
 * otherwise `code`.
 */
export function endWith(code: number, failures: readonly string[], session: Session): void {
  if (failures.length > 0) session.warn(`${failures.join('\n')}\n`);
  session.exitCode = failures.length > 0 ? 4 : code;
}

/**
 * Function that writes all outputs. If one fails, it continues with the next. Resolves to one message for each failure.
 */
type Outputs<Name> = (render: (name: Name, isPrinted: boolean) => string, session: Session) => Promise<string[]>;

/**
 * Checks the outputs and returns a function that writes them. At most one report may go to standard output, except
 * `github` together with `pretty`. No file may be named twice, and every file must be writable. Otherwise throws
 * `UsageError`.
 */
export async function openOutputs<Name extends string>(
  given: readonly NamedReporter<Name>[],
  output: string | undefined,
): Promise<Outputs<Name>> {
  const wanted = withOutput(given, output);
  const printed = wanted.filter(({ file }) => file === undefined).map(({ name }) => name);
  // GitHub annotations may be printed together with the readable report, because they are separate lines.
  const isPair = printed.length === 2 && ['github', 'pretty'].every((name) => printed.some((one) => one === name));
  if (printed.length > 1 && !isPair) {
    throw new UsageError('--reporter: only one report can go to standard output; write the others as NAME=FILE');
  }
  const files = wanted.flatMap(({ file }) => (file === undefined ? [] : [resolve(file)]));
  if (new Set(files).size < files.length) throw new UsageError('--reporter names one file twice');
  for (const { file } of wanted) {
    if (file !== undefined) await checkWritable(file, file === output ? '--output' : '--reporter');
  }
  return async (render, session) => {
    const failures: string[] = [];
    for (const { name, file } of wanted) {
      const written = render(name, file === undefined);
      if (file === undefined) session.print(written);
      else await writeWhole(file, written).catch((error) => failures.push(sentenceOf(error)));
    }
    return failures;
  };
}

function withOutput<Name extends string>(
  wanted: readonly NamedReporter<Name>[],
  output: string | undefined,
): readonly NamedReporter<Name>[] {
  if (output === undefined) return wanted;
  if (wanted.filter(({ file }) => file === undefined).length !== 1) {
    throw new UsageError(
      '--output needs exactly one --reporter without a file; give the other reporters a file, as in --reporter tap=FILE',
    );
  }
  return wanted.map((one) => (one.file === undefined ? { ...one, file: output } : one));
}

function sentenceOf(error: unknown): string {
  if (error instanceof Unwritten) return error.message;
  throw error;
}

function showsColors(): boolean {
  return process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
}

/**
 * Appends the report to the step summary, which GitHub shows on the page of the workflow run. Does nothing outside
 * GitHub Actions. Returns error messages; an empty list if none.
 */
async function addSummary(report: Report): Promise<string[]> {
  const file = process.env.GITHUB_STEP_SUMMARY;
  if (file === undefined || file === '') return [];
  try {
    await appendFile(file, `${markdown(report)}\n`);
    return [];
  } catch (error) {
    return [`the step summary cannot be written: ${(error as Error).message}`];
  }
}

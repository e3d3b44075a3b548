import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { markdown } from '../report/markdown.js';
import { REPORTERS, type ReporterName, reporterOf } from '../report/reporters.js';
import type { Report } from '../report/results.js';
import type { Flags, Session, Values } from './command.js';
import { UsageError } from './usage-error.js';
import { choice, type Read, text } from './values.js';
import { checkWritable, Unwritten, writeWhole } from './write-file.js';

/** A format, and the file it goes to; without one it is printed. */
interface NamedReporter<Name extends string> {
  readonly name: Name;
  readonly file?: string;
}

/** `NAME` or `NAME=FILE`. */
export function reporterFlag<const Name extends string>(names: readonly Name[]): Read<NamedReporter<Name>> {
  const read = choice(names);
  return (typed) => {
    const at = typed.indexOf('=');
    if (at < 0) return { name: read(typed) };
    return { name: read(typed.slice(0, at)), file: text(`NAME=FILE`)(typed.slice(at + 1)) };
  };
}

/** The flags of every command that has a report to give. */
export const REPORT_FLAGS = {
  reporter: {
    read: reporterFlag(REPORTERS),
    repeatable: true,
    describe: `Format of a report, with =FILE to write it there; pretty unless said: ${REPORTERS.join(', ')}`,
  },
  output: { read: text('the name of a file'), describe: 'File for the report instead of standard output' },
} satisfies Flags;

type ReportArguments = Values<typeof REPORT_FLAGS>;

/** Where the reports of a command go. */
export interface ReportOutput {
  readonly write: (report: Report, session: Session) => Promise<void>;
}

/** Reads the flags, and looks whether every file can be written. Throws `UsageError`. */
export async function readReportOutput({ reporter, output }: ReportArguments): Promise<ReportOutput> {
  const wanted = withOutput(reporter.length === 0 ? [{ name: 'pretty' }] : reporter, output);
  const printed = wanted.filter(({ name, file }) => file === undefined && name !== 'github').map(({ name }) => name);
  const mixed = wanted.some(({ name, file }) => name === 'github' && file === undefined) && printed[0] !== 'pretty';
  if (printed.length > 1 || (mixed && printed.length > 0)) {
    throw new UsageError('--reporter: only one report can go to standard output; write the others as NAME=FILE');
  }
  const files = wanted.flatMap(({ file }) => (file === undefined ? [] : [resolve(file)]));
  if (new Set(files).size < files.length) throw new UsageError('--reporter names one file twice');
  for (const { file } of wanted) {
    if (file !== undefined) await checkWritable(file, file === output ? '--output' : '--reporter');
  }
  return { write: (report, session) => writeReports(wanted, report, session) };
}

function withOutput(
  wanted: readonly NamedReporter<ReporterName>[],
  output: string | undefined,
): readonly NamedReporter<ReporterName>[] {
  if (output === undefined) return wanted;
  const free = wanted.filter(({ file }) => file === undefined);
  if (free.length !== 1) {
    throw new UsageError('--output is for one --reporter without a file; write the others as NAME=FILE');
  }
  return wanted.map((one) => (one.file === undefined ? { ...one, file: output } : one));
}

/** Writes all of them, also after one that could not be written; exit code 4 says that one was not. */
async function writeReports(
  wanted: readonly NamedReporter<ReporterName>[],
  report: Report,
  session: Session,
): Promise<void> {
  session.exitCode = report.exit_code;
  const failures: string[] = [];
  for (const { name, file } of wanted) {
    const written = reporterOf(name, file === undefined && showsColors())(report);
    if (file === undefined) session.print(written);
    else await writeWhole(file, written).catch((error) => failures.push(sentenceOf(error)));
    if (name === 'github') await addSummary(report).catch((error) => failures.push(sentenceOf(error)));
  }
  if (failures.length === 0) return;
  session.warn(`${failures.join('\n')}\n`);
  session.exitCode = 4;
}

function sentenceOf(error: unknown): string {
  if (error instanceof Unwritten) return error.message;
  throw error;
}

function showsColors(): boolean {
  return process.stdout.isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
}

/** GitHub shows what is added to this file on the page of the workflow run. */
async function addSummary(report: Report): Promise<void> {
  const file = process.env.GITHUB_STEP_SUMMARY;
  if (file === undefined || file === '') return;
  try {
    await appendFile(file, `${markdown(report)}\n`);
  } catch (error) {
    throw new Unwritten(`the step summary cannot be written: ${(error as Error).message}`);
  }
}

import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { packageFile } from '../system/package-root.js';
import type { Result } from './row.js';

/** Result of one benchmark on one machine and repository. One line of the results file. */
export interface Entry {
  /** Description of the machine and of the installed software. */
  readonly machine: string;
  /** Heading of the result in the report: `SERVICE`, or the name of the measured repository. */
  readonly column: string;
  /** Size of the measured repository, as text for the report. */
  readonly size: string;
  readonly result: Result;
}

/** Heading for benchmarks that do not depend on a repository. */
export const SERVICE = 'The service';

export async function appendEntry(file: string, entry: Entry): Promise<void> {
  await appendFile(file, `${JSON.stringify(entry)}\n`);
}

/**
 * Reads a results file, which has one JSON result per line. Throws an error with a message for the user if the file
 * cannot be read or is not a results file. Ignores an incomplete last line, which an interrupted run may leave.
 */
export async function readEntries(file: string): Promise<Entry[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read: ${error.code}.`);
  });
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line, at) => {
    try {
      const entry = JSON.parse(line) as Entry;
      if (typeof entry.column === 'string' && typeof entry.result.ours === 'number') return entry;
    } catch {
      // Ignores a syntax error, because the next statement throws an error that names the line.
    }
    throw new Error(`Line ${at + 1} of ${file} is no result of npm run bench.`);
  });
}

const HEADINGS = ['', 'ours', 'peer', 'ours / peer', 'first round', 'bar', ''];

/** Formats a result as the cells of a table row: the medians, the ratios, the limit, and if the limit is met. */
export function cellsOf(result: Result): string[] {
  const { title, peer, unit, ours, native, ratio, firstRatio, isReached } = result;
  return [
    title,
    `${shorten(ours)} ${unit}`,
    native === undefined ? peer : `${shorten(native)} ${unit} (${peer})`,
    ratio?.toFixed(2) ?? '',
    firstRatio?.toFixed(2) ?? '',
    barOf(result),
    isReached ? '✓' : '✗',
  ];
}

/**
 * Formats the report of all results as Markdown. It has the machine, the benchmarks without a repository, and one table
 * for all repositories. `rows` gives the order of the benchmarks. If a benchmark has several results for one
 * repository, the last result is used.
 */
export function writeReport(entries: readonly Entry[], rows: readonly { readonly id: string }[]): string {
  const latest = new Map(entries.map((entry) => [JSON.stringify([entry.column, entry.result.id]), entry]));
  const joined = rows.flatMap(({ id }) => [...latest.values()].filter(({ result }) => result.id === id));
  const machines = [...new Set(joined.map(({ machine }) => machine))];
  const service = joined.filter(({ column }) => column === SERVICE);
  const rest = joined.filter(({ column }) => column !== SERVICE);
  const tables = [`${machines.join('; ')}. A figure that misses its bar is marked ✗.\n`];
  if (service.length > 0) {
    const cells = service.map(({ result }) => cellsOf(result));
    tables.push(markdown(HEADINGS, cells));
  }
  if (rest.length > 0) tables.push(writeComparison(rest));
  return tables.join('\n');
}

/**
 * Formats a table with one row per benchmark and one column per repository. A cell shows the emulator's figure divided
 * by Git's. If a benchmark has no comparison, it shows the emulator's figure itself.
 */
function writeComparison(entries: readonly Entry[]): string {
  const columns = new Map(entries.map(({ column, size }) => [column, size] as const));
  const ids = new Map(entries.map(({ result }) => [result.id, result.title] as const));
  const headings = ['', 'bar', ...Array.from(columns, ([column, size]) => `${column} (${size})`)];
  const rows = Array.from(ids, ([id, title]) => {
    const all = entries.filter(({ result }) => result.id === id);
    const bars = new Map(all.map(({ column, result }) => [barOf(result), column] as const));
    const bar = Array.from(bars, ([text, column]) => (bars.size === 1 ? text : `${text} (${column})`)).join(', ');
    const cells = Array.from(columns.keys(), (column) => all.find((entry) => entry.column === column)?.result);
    return [title, bar, ...cells.map((result) => (result ? figureOf(result) : ''))];
  });
  return markdown(headings, rows);
}

function figureOf({ ours, unit, ratio, isReached }: Result): string {
  return `${ratio?.toFixed(2) ?? `${shorten(ours)} ${unit}`}${isReached ? '' : ' ✗'}`;
}

function barOf({ bar, isMoreBetter, native, unit }: Result): string {
  return `${isMoreBetter ? '≥' : '≤'} ${native === undefined ? `${bar} ${unit}` : bar.toFixed(2)}`;
}

export function markdown(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const rule = headings.map((_, column) => (column === 0 ? '---' : '---:'));
  return [headings, rule, ...rows].map(line).join('');
}

/** Formats a number with three significant digits. Numbers from 100 are rounded to whole numbers. */
export function shorten(figure: number): string {
  if (figure >= 100) return Math.round(figure).toLocaleString('en');
  return figure.toFixed(figure >= 10 ? 1 : 2);
}

const DOCUMENT = 'emulator/bench/README.md';

/**
 * Commands that print the generated parts of the document `emulator/bench/README.md`. Each part is between two marker
 * comments that name it.
 */
const COMMANDS = { figures: 'npm run bench -- --write', peers: 'npm run bench:peers -- --write' } as const;
type PrintedPart = keyof typeof COMMANDS;

/**
 * Returns the document with `text` between the two markers of `part`. Throws unless the document contains each marker
 * exactly once and in order.
 */
export function replacePart(document: string, part: PrintedPart, text: string): string {
  const [begin, end] = [`<!-- ${part}: printed by ${COMMANDS[part]} -->`, `<!-- end of ${part} -->`];
  const [before, behind, ...more] = document.split(new RegExp(`${begin}[^]*?${end}`));
  if (behind === undefined || more.length > 0) throw new Error(`${DOCUMENT} lacks the markers of ${part}.`);
  return `${before}${begin}\n\n${text.trim()}\n\n${end}${behind}`;
}

/** Replaces one part of the file `emulator/bench/README.md` with `text`. */
export async function writePart(part: PrintedPart, text: string): Promise<void> {
  const file = packageFile(DOCUMENT);
  await writeFile(file, replacePart(await readFile(file, 'utf8'), part, text));
}

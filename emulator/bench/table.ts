import { type Entry, joinEntries, SERVICE } from './results-file.js';
import type { Result } from './row.js';

const HEADINGS = ['', 'ours', 'peer', 'ours / peer', 'first round', 'bar', ''];

/** The results as a Markdown table: medians, ratios, the bar, and whether it is reached. */
export function writeTable(results: readonly Result[]): string {
  return markdown(HEADINGS, results.map(cellsOf));
}

function cellsOf(result: Result): string[] {
  const { title, peer, unit, isServed, ours, native, ratio, firstRatio, isReached } = result;
  return [
    title,
    isServed ? `${shorten(ours)} ${unit}` : 'not served',
    native === undefined ? peer : `${shorten(native)} ${unit} (${peer})`,
    ratio === undefined ? '' : ratio.toFixed(2),
    firstRatio === undefined ? '' : firstRatio.toFixed(2),
    barOf(result),
    isServed ? (isReached ? '✓' : '✗') : '–',
  ];
}

/** What the document says: the machine, the service, and the rows of all repositories beside each other, in the order of `rows`. */
export function writeReport(entries: readonly Entry[], rows: readonly { readonly id: string }[]): string {
  const joined = rows.flatMap(({ id }) => joinEntries(entries).filter(({ result }) => result.id === id));
  const machines = [...new Set(joined.map(({ machine }) => machine))];
  const service = joined.filter(({ column }) => column === SERVICE).map(({ result }) => result);
  const rest = joined.filter(({ column }) => column !== SERVICE);
  return [
    `${machines.join('; ')}. A figure that misses its bar is marked ✗.\n`,
    ...(service.length > 0 ? [writeTable(service)] : []),
    ...(rest.length > 0 ? [writeComparison(rest)] : []),
  ].join('\n');
}

/** Rows down, repositories across: the ratio, or the figure of what has no peer. */
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

function figureOf({ isServed, ours, unit, ratio, isReached }: Result): string {
  if (!isServed) return 'not served';
  return `${ratio === undefined ? `${shorten(ours)} ${unit}` : ratio.toFixed(2)}${isReached ? '' : ' ✗'}`;
}

function barOf({ bar, isMoreBetter, native, unit }: Result): string {
  return `${isMoreBetter ? '≥' : '≤'} ${native === undefined ? `${bar} ${unit}` : bar.toFixed(2)}`;
}

export function markdown(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const rule = headings.map((_, column) => (column === 0 ? '---' : '---:'));
  return [headings, rule, ...rows].map(line).join('');
}

/** Three digits that count. */
export function shorten(figure: number): string {
  if (figure >= 100) return Math.round(figure).toLocaleString('en');
  return figure.toFixed(figure >= 10 ? 1 : 2);
}

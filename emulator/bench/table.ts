import type { Result } from './row.js';

const HEADINGS = ['', 'ours', 'peer', 'ours / peer', 'first round', 'bar', ''];

/** The results as a Markdown table: medians, ratios, the bar, and whether it is reached. */
export function writeTable(results: readonly Result[]): string {
  return markdown(HEADINGS, results.map(cellsOf));
}

function cellsOf(result: Result): string[] {
  const { title, peer, unit, bar, isMoreBetter, isServed, ours, native, ratio, firstRatio, isReached } = result;
  const sign = isMoreBetter ? '≥' : '≤';
  const isAbsolute = native === undefined;
  return [
    title,
    isServed ? `${shorten(ours)} ${unit}` : 'not served',
    isAbsolute ? peer : `${shorten(native)} ${unit} (${peer})`,
    ratio === undefined ? '' : ratio.toFixed(2),
    firstRatio === undefined ? '' : firstRatio.toFixed(2),
    isAbsolute ? `${sign} ${bar} ${unit}` : `${sign} ${bar.toFixed(2)}`,
    isServed ? (isReached ? '✓' : '✗') : '–',
  ];
}

/** Titles down, sizes of history across: how ours, its peer and the ratio grow. */
export function writeGrowthTable(sizes: readonly { readonly label: string; readonly results: readonly Result[] }[]) {
  const ids = new Map(sizes.flatMap(({ results }) => results.map((result) => [result.id, result.title] as const)));
  const headings = ['', ...sizes.map(({ label }) => label)];
  const rows = Array.from(ids, ([id, title]) => [
    title,
    ...sizes.map(({ results }) => {
      const result = results.find((each) => each.id === id);
      if (!result?.isServed) return '';
      const { unit, ours, native, ratio } = result;
      return native === undefined
        ? `${shorten(ours)} ${unit}`
        : `${shorten(ours)} / ${shorten(native)} ${unit} = ${ratio!.toFixed(2)}`;
    }),
  ]);
  return markdown(headings, rows);
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

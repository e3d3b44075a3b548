/** Columns of text, each as wide as its widest cell; the last one as long as it is. */
export function writeTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}

/** A table of a document; the first row is its head. What stands in cells is Markdown, but for `|`. */
export function writeMarkdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`).join('');
}

/** Text as code; nothing where there is none. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** Formats a text table. Each column is as wide as its widest cell. The last column is not padded. */
export function writeTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}

/** Formats a Markdown table; the first row is the header. Cells contain Markdown, in which only `|` is escaped. */
export function writeMarkdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`).join('');
}

/** Formats text as Markdown inline code. Returns an empty string for an empty text. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

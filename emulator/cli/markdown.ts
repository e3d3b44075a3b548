/** A table of a document; the first row is its head. What stands in cells is Markdown, but for `|`. */
export function writeMarkdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`).join('');
}

/** Text as code; nothing where there is none. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

/** Returns the text as one word for a POSIX shell, quoted only if necessary. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoteText(word);
}

/**
 * Returns the text in single quotes for a POSIX shell. Between them, only the single quote itself is special (POSIX,
 * Shell Command Language, 2.2.2).
 */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Writes a word for a POSIX shell: quoted if it has characters that mean something to the shell. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoteText(word);
}

/** In single quotes nothing but a single quote means anything (POSIX, Shell Command Language, 2.2.2). */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

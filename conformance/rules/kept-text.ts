import type { ApiResponse } from '../check/api-response.js';
import { expectSame } from '../check/expect.js';

/**
 * Text for commit messages and notes that trimming or escaping would change. It contains a tab, and characters with a
 * meaning in HTML, URLs and templates. It has blanks at both ends and at the ends of lines.
 */
export const PADDED =
  '  begins with blanks\n\n\tthen a tab, ünïcode too \n<b>"one" & \'two\'</b> %41+%s \\n {{x}}\nends with blanks   ';

/**
 * Commit messages that a service would change by cleaning, wrapping or shortening them. The first has several blank
 * lines in a row, a line that begins with `#`, a line of 300 characters, and a character outside the Basic Multilingual
 * Plane.
 */
export const MESSAGES = [
  `Say why\n\nAt length, ünïcode too 😀\n\n\n\n# 1 is a number\n${'long '.repeat(60)}line`,
  PADDED,
] as const;

/** Clauses for a rule that stores each of the `MESSAGES`. */
export const MESSAGE_CLAUSES = {
  body: 'The lines after the first are kept.',
  'hash-lines': 'Lines that begin with # are kept.',
  'long-lines': 'A long line is kept in one piece.',
  'blank-lines': 'Several blank lines in a row are kept.',
  markup: 'Characters with a meaning in HTML, URLs or templates are kept.',
  blanks: 'Blanks at the beginning and at the end are kept.',
} as const;

/**
 * Expects a stored text to equal the text that was sent. Newlines at the end may differ, because Git adds or drops a
 * final newline in messages and notes.
 */
export function expectKept(actual: string, sent: string, what: string): void {
  expectSame(withoutLastNewline(actual), withoutLastNewline(sent), what);
}

function withoutLastNewline(text: string): string {
  return text.replace(/\n+$/, '');
}

/** Expects a commit response to name this person in the given role. */
export function expectPerson(
  commit: ApiResponse,
  role: 'author' | 'committer',
  person: { name: string; email: string },
): void {
  const [name, email] = [commit.find('commit', `${role}_name`), commit.find('commit', `${role}_email`)];
  expectSame([name, email], [person.name, person.email], `the ${role}`);
}

import type { ApiResponse } from '../check/api-response.js';
import { expectSame } from '../check/expect.js';

/** A text that trimming would change: blanks at its ends and at those of lines, and a tab. */
export const PADDED = '  begins with blanks\n\n\tthen a tab, ünïcode too \nends with blanks   ';

/**
 * Expects a text to be returned as sent. One final newline may be added or dropped, as Git does for messages and notes.
 */
export function expectKept(actual: string, sent: string, what: string): void {
  expectSame(withoutLastNewline(actual), withoutLastNewline(sent), what);
}

function withoutLastNewline(text: string): string {
  return text.replace(/\n+$/, '');
}

/** Expects a commit to name this person in this role. */
export function expectPerson(
  commit: ApiResponse,
  role: 'author' | 'committer',
  person: { name: string; email: string },
): void {
  const [name, email] = [commit.find('commit', `${role}_name`), commit.find('commit', `${role}_email`)];
  expectSame([name, email], [person.name, person.email], `the ${role}`);
}

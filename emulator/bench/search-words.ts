import type { Fixture } from './fixture.js';
import { git } from './native-git.js';

export interface SearchWords {
  /** A word some files hold. */
  readonly literal: string;
  /** A pattern that no fixed text starts; the same in RE2 and in POSIX extended syntax. */
  readonly expression: string;
}

/** Few enough for one page of an answer, so that both sides find the same. */
const MOST_LINES = 150;

/** Words to search a repository for: taken from its own files, the first by name that are neither rare nor common. */
export async function chooseWords({ path, line }: Fixture): Promise<SearchWords> {
  const tip = line[0]!;
  const listed = await git(path, ['ls-tree', '-r', '--name-only', tip]);
  const files = listed.split('\n').filter((name) => /\.(ts|js|c|h|go|py|rs|java)$/.test(name));
  for (const file of files) {
    const text = await git(path, ['show', `${tip}:${file}`]);
    for (const word of new Set(text.match(/\b[a-z]+[A-Z_][A-Za-z]{5,}\b/g))) {
      const expression = `[A-Za-z]+${word.slice(3)}[^A-Za-z]`;
      const lines = [await countLines(path, tip, word), await countLines(path, tip, expression)];
      if (lines.every((count) => count > 10 && count < MOST_LINES)) return { literal: word, expression };
    }
  }
  throw new Error(`${path} holds no word to search for`);
}

async function countLines(path: string, tip: string, pattern: string): Promise<number> {
  const found = await git(path, ['grep', '-h', '-E', '-e', pattern, tip], { accept: [0, 1] });
  return found === '' ? 0 : found.split('\n').length;
}

import { unlimited } from '../../../schedule/test/unlimited.js';
import { bytesOf, textOf } from '../../object/bytes.js';
import type { Oid } from '../../object/object.js';
import type { Content, MemoryObjects } from '../../test/memory-objects.js';
import type { ScratchGit } from '../../test/workbench.js';
import type { SearchLimits } from '../search.js';
import { type SearchQuery, searchPage, textCache } from './search-page.js';

export const UNLIMITED: SearchLimits = { maxMatches: 1e9, maxMatchesPerFile: 1e9, maxLines: 1e9 };

/**
 * Patterns that mean the same in RE2 syntax and in `git grep -E`. Each of the three search engines handles some of
 * them: plain text, V8 and automaton.
 */
export const PATTERNS = [
  'foo',
  'a',
  'foo\\.bar',
  'fo+',
  'o{2,3}b',
  '.',
  '.*',
  'x*',
  '^foo',
  'bar$',
  '^foo.*bar$',
  '(foo|bar) ?=',
  '[a-c]+[0-9]',
  '[^a-z ]',
  '[^a]b',
  '[[:upper:]][[:lower:]]*',
  '[[:space:]]bar',
  '[^[:alnum:]_ ]+',
  '\\bfoo\\b',
  '\\Boo',
  '\\w+\\(',
  '\\s+$',
  '(a|b)*c',
  '((foo|ba)r?)+',
  'foo.*bar.*baz',
  '(\\w+ *)+=',
  'é',
  'f(o(o))',
  'a{3}',
  '(ab){2,}',
  '',
  '()',
  'foo|',
  '\\$ \\{',
  '[]x]',
  '[a-]b',
];

/** Sample files with many kinds of lines: empty lines, CRLF, non-ASCII text, and last lines without a line feed. */
export const SAMPLE: Content = {
  'a-b': 'foo\nbar\nbaz\n',
  a: {
    code: 'function foo(a, b) {\n  foo.bar = 1\n\n\tbar  \n  return foo\n}\n$ {x}\nfooo\nfoob\nfoooob',
    words: bytesOf('Foo FOO foo\ncafé\nnaïve ü\nÜber\nabab c\naaa\naaaa b1\n'),
  },
  'crlf.txt': 'foo\r\nbar\r\n\r\nfoo bar\r\n',
  empty: '',
  'long.txt': `${'word '.repeat(200)}foo bar baz = ${'x'.repeat(500)}\nfoo bar = baz\n`,
  'no-feed': 'foo',
  blank: '\n\n\nfoo\n\n',
};

/** Searches a tree with the emulator. Returns the result in the format of `git grep -n`. */
export async function grep(objects: MemoryObjects, tree: Oid, query: SearchQuery): Promise<string> {
  const printed: string[] = [];
  const { files } = await searchPage(textCache(objects), tree, query, UNLIMITED, unlimited());
  for (const { path, lines } of files) {
    lines.forEach(({ number, text, type }, at) => {
      const follows = at > 0 && lines[at - 1]!.number === number - 1;
      if ((query.before || query.after) && !follows && printed.length > 0) printed.push('--');
      const mark = type === 'match' ? ':' : '-';
      printed.push(`${textOf(path)}${mark}${number}${mark}${text}`);
    });
  }
  return printed.join('\n');
}

/** Runs `git grep -n` for a query and returns its output. */
export function gitGrep(
  git: ScratchGit,
  tree: Oid,
  { pattern, caseSensitive, before, after }: SearchQuery & { readonly pattern: string },
): string {
  const around = before || after ? [`-B${before}`, `-A${after}`] : [];
  const args = [
    'grep',
    '-n',
    '-E',
    '-I',
    '--no-color',
    ...(caseSensitive ? [] : ['-i']),
    ...around,
    '-e',
    pattern,
    tree,
  ];
  const { stdout, stderr } = git.try(args);
  if (stderr !== '') throw new Error(stderr);
  return stdout.toString('utf8').replaceAll(`${tree}:`, '').replace(/\n$/, '');
}

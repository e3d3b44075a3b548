import { grep } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectSame } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { historyRepository } from '../../fixtures/history.js';
import { patternRepository, SLASH_BRANCH, SLASH_FILE } from '../../fixtures/patterns.js';
import type { JsonRecord } from '../../http/exchange.js';
import { on, type RuleRow } from '../rule.js';
import { findsIn, findsWordIn, findsWordOnceIn, found, linesOf, pathsOf, search, searchPatterns } from './found.js';

/**
 * Returns the lines of all matches in `context.txt` of the pattern repository, sorted by line number, such as `match 5`
 * or `context 4`. A server may list each match separately, so one line may be in the context of several matches. Within
 * one match item, line numbers must increase.
 */
async function linesWithContext(t: RuleContext, response: ApiResponse): Promise<string[]> {
  for (const { lines } of response.records('matches')) {
    const numbers = (lines as JsonRecord[]).map((line) => Number(line.line_number));
    const increasing = [...new Set(numbers)].sort((a, b) => a - b);
    expectSame(numbers, increasing, 'each line of an item must be listed once, in order');
  }
  const content = (await patternRepository(t)).files['context.txt']?.toString().split('\n') ?? [];
  const types = new Map<number, string>();
  for (const { line, text, type } of linesOf(response)) {
    expectSame(text, content[Number(line) - 1], `line ${line} of context.txt`);
    if (types.get(Number(line)) !== 'match') types.set(Number(line), String(type));
  }
  return [...types].sort(([a], [b]) => a - b).map(([line, type]) => `${type} ${line}`);
}

/** Searches `context.txt` of the pattern repository with these context members. Expects exactly these lines. */
async function showsLines(
  t: RuleContext,
  pattern: string,
  context: object,
  expected: readonly string[],
): Promise<void> {
  const response = await searchPatterns(t, pattern, { paths: ['context.txt'], context });
  const what = `the lines with ${JSON.stringify(context)} must be exactly these`;
  expectSame(await linesWithContext(t, response), expected, what);
}

/** Rules about search members that select files, and about context lines. */
export const searchFilters: readonly RuleRow[] = [
  {
    id: 'grep.paths',
    says: 'paths restricts the search to the listed paths and what is below them.',
    clauses: {
      second: 'The second of two paths is searched as well.',
      file: 'A path can be that of a file.',
      'whole-names': 'A path does not select paths that only begin with the same characters.',
      'with-ref': 'With ref, a path can be that of a file that exists only on the branch in ref.',
      overlap: 'A file that two of the paths select has each match once.',
      'from-root': 'A path begins in the root folder of the repository.',
    },
    check: async (t) => {
      await findsIn(t, ['src/app.js', 'src/lib/deep.js', 'src/types.ts'], 'fo+ba', { paths: ['src'] });
      await findsIn(t, ['docs/guide.md', 'src/lib/deep.js'], 'fo+ba', { paths: ['src/lib', 'docs'] });
      await findsWordIn(t, ['b.ts', 'lib/c.js', 'lib/deep/d.js', 'lib/e.md'], { paths: ['lib', 'b.ts'] });
      await findsWordIn(t, ['doc/g.md'], { paths: ['lib/none', 'doc/g.md'] });
      await findsWordIn(t, ['a.js'], { paths: ['deep', 'c.js', 'a.js'] });
      await findsWordOnceIn(t, ['lib/c.js', 'lib/deep/d.js', 'lib/e.md'], { paths: ['lib/c.js', 'lib'] });
      const onBranch = await searchPatterns(t, '^on the branch', { ref: SLASH_BRANCH, paths: [SLASH_FILE] });
      expectSame(pathsOf(onBranch), [SLASH_FILE], 'the file on the branch must be found');
    },
  },
  {
    id: 'grep.include_globs',
    says: 'include_globs keeps only files that match a glob, at any depth.',
    clauses: {
      second: 'Files that match only the second of two globs are found.',
      root: 'A glob that begins with **/ also matches files in the root folder.',
      'with-paths': 'With paths, a file must match a glob and be below a path.',
      overlap: 'A file that matches two of the globs has each match once.',
    },
    check: on(found('fo+ba', { file_filters: { include_globs: ['**/*.js'] } }), async (t, { response }) => {
      expectSame(pathsOf(response), ['src/app.js', 'src/lib/deep.js'], 'the result must contain only JavaScript files');
      const both = { include_globs: ['**/*.js'], exclude_globs: ['**/*.js'] };
      t.observe('in both lists', pathsOf((await search(t, 'fo+ba', { file_filters: both })).response));
      const two = { include_globs: ['**/*.ts', 'docs/**'] };
      await findsIn(t, ['docs/guide.md', 'src/types.ts'], 'fo+ba', { file_filters: two });
      await findsWordIn(t, ['a.js', 'lib/c.js', 'lib/deep/d.js', 'library/f.js'], {
        file_filters: { include_globs: ['**/*.js'] },
      });
      await findsWordOnceIn(t, ['doc/g.md', 'doc/h.ts.md', 'lib/c.js', 'lib/deep/d.js', 'lib/e.md'], {
        file_filters: { include_globs: ['**/*.js', '**/*.md', 'lib/**'] },
        paths: ['lib', 'doc'],
      });
    }),
  },
  {
    id: 'grep.exclude_globs',
    says: 'exclude_globs leaves out files that match a glob.',
    clauses: {
      second: 'Files that match only the second of two globs are left out.',
      'from-included': 'A file that matches a glob of exclude_globs is left out if a wider glob includes it.',
      'with-paths': 'A file that matches a glob of exclude_globs is left out if it is below one of the paths.',
      'with-extensions': 'A file that matches a glob of exclude_globs is left out if it has a listed extension.',
      root: 'A glob that begins with **/ also leaves out files in the root folder.',
    },
    check: async (t) => {
      const searchWithout = (exclude_globs: readonly string[], found: readonly string[]) =>
        findsIn(t, found, 'foobar', { file_filters: { exclude_globs }, paths: ['src', 'docs'] });
      await searchWithout(['**/*.md'], ['src/app.js', 'src/types.ts']);
      await searchWithout(['**/*.md', '**/*.ts'], ['src/app.js']);
      const exclude_globs = ['lib/**'];
      await findsWordIn(t, ['a.js', 'library/f.js'], { file_filters: { include_globs: ['**/*.js'], exclude_globs } });
      await findsWordIn(t, ['a.js', 'library/f.js'], { file_filters: { extension_filters: ['.js'], exclude_globs } });
      await findsWordIn(t, ['b.ts', 'doc/g.md', 'doc/h.ts.md', 'doc/i.mts', 'lib/e.md'], {
        file_filters: { exclude_globs: ['**/*.js'] },
      });
      const narrow = { include_globs: ['lib/c.js'], exclude_globs };
      t.observe('narrow glob included', pathsOf(await searchPatterns(t, '^word in', { file_filters: narrow })));
    },
  },
  {
    id: 'grep.extension_filters',
    says: 'extension_filters keeps only files with one of the listed extensions.',
    clauses: {
      second: 'Files with only the second of two extensions are found.',
      'whole-extension': 'An extension is the complete end of a name, beginning with the dot.',
      'with-paths': 'With paths, a file must have a listed extension and be below a path.',
      'with-globs': 'With include_globs, a file must have a listed extension and match a glob.',
    },
    check: on(found('foobar', { file_filters: { extension_filters: ['.ts'] } }), async (t, { response }) => {
      expectSame(pathsOf(response), ['src/types.ts'], 'only .ts');
      const history = await historyRepository(t);
      const bare = await grep(t, history.name, {
        query: { pattern: 'foobar' },
        file_filters: { extension_filters: ['ts'] },
      });
      t.observe('without the dot', bare.status === 200 ? pathsOf(bare) : bare.outcome);
      const two = { extension_filters: ['.ts', '.md'] };
      await findsIn(t, ['docs/guide.md', 'src/types.ts'], 'foobar', { file_filters: two });
      await findsWordIn(t, ['b.ts'], { file_filters: { extension_filters: ['.ts'] } });
      await findsWordIn(t, ['lib/c.js', 'lib/deep/d.js'], {
        file_filters: { extension_filters: ['.js'] },
        paths: ['lib'],
      });
      await findsWordIn(t, ['lib/e.md'], {
        file_filters: { extension_filters: ['.md'], include_globs: ['lib/**'] },
      });
    }),
  },
  {
    id: 'grep.context.before',
    says: 'context.before and context.after add that many lines before and after each match.',
    clauses: {
      'only-before': 'Without context.after, context.before still adds lines before each match.',
      'only-after': 'Without context.before, context.after still adds lines after each match.',
      'other-side':
        'context.before alone adds the same lines after the match as a search without context, and vice versa.',
      zero: 'A context of 0 lines adds no lines.',
      edges: 'At the start and end of a file, only existing lines are added.',
      overlap:
        'Lines between two matches that are close together are listed once, and both matches have the type match.',
      adjacent: 'A match directly after another match has the type match, although it is also in its context.',
    },
    check: on(
      found('^plum$', { paths: ['context.txt'], context: { before: 2, after: 1 } }),
      async (t, { response }) => {
        const lines = response.records('matches').flatMap(({ lines }) => lines as { text: string; type: string }[]);
        const seen = lines.map(({ text, type }) => `${type} ${text.trimEnd()}`);
        expectSame(
          seen,
          ['context three', 'context four', 'match plum', 'context six'],
          'the match must have two lines before it and one after',
        );
        const bare = (await search(t, '^plum$', { paths: ['context.txt'] })).response;
        t.observe('lines without context', bare.records('matches').flatMap(({ lines }) => lines).length);
        // The specification does not say how many lines an absent member adds. So take those of a search without context.
        const around = async (context?: object) => {
          const shown = await linesWithContext(
            t,
            await searchPatterns(t, '^plum 6$', { paths: ['context.txt'], ...(context && { context }) }),
          );
          const at = shown.indexOf('match 6');
          return { before: shown.slice(0, at), after: shown.slice(at + 1) };
        };
        const usual = await around();
        const before = await around({ before: 3 });
        expectSame(before.before, ['context 3', 'context 4', 'context 5'], 'three lines must be before the match');
        expectSame(before.after, usual.after, 'context.before must not change the lines after the match');
        const after = await around({ after: 1 });
        expectSame(after.after, ['context 7'], 'one line must be after the match');
        expectSame(after.before, usual.before, 'context.after must not change the lines before the match');
        await showsLines(t, '^plum 6$', { before: 0, after: 0 }, ['match 6']);
        await showsLines(t, '^plum 12*$', { before: 1, after: 2 }, [
          'match 1',
          'context 2',
          'context 3',
          'context 11',
          'match 12',
        ]);
        await showsLines(t, '^line 2$', { before: 3, after: 0 }, ['context 1', 'match 2']);
        await showsLines(t, '^line [23]$', { before: 0, after: 1 }, ['match 2', 'match 3', 'context 4']);
        const close = ['context 4', 'context 5', 'match 6', 'context 7', 'match 8', 'context 9', 'context 10'];
        await showsLines(t, '^plum [68]$', { before: 2, after: 2 }, close);
      },
    ),
  },
];

import { grep } from '../../api/requests.js';
import { expectOther, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { DENSE_LINES, largeRepository, TWO_LINE_FILES } from '../../fixtures/large.js';
import { patternRepository, WORD_PATHS } from '../../fixtures/patterns.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { allPages, foundInLarge, linesOf, matchesOf, pathsOf, searchLarge, searchPatterns, textsOf } from './found.js';

/** Returns the lines of a search result as sorted texts. Lists that differ only in order are then equal. */
function sorted(lines: ReturnType<typeof matchesOf>): string[] {
  return lines.map(({ path, line, text }) => `${path}:${line}:${text}`).sort();
}

/** Request members for a page that is as large as the defaults of the other search limits allow. */
const WIDE = { pagination: { limit: 5000 }, limits: { max_matches_per_file: 5000 } };
const DENSE = { paths: ['dense.txt'] };

export const searchLimits = defineRules('1. Search', 'search-limits', [
  {
    id: 'grep.max_lines.default',
    says: 'A response has at most 2000 lines, or max_lines if that is smaller.',
    clauses: {
      one: 'With a max_lines of 1, a response has one line.',
      context: 'Context lines count as lines of the response.',
    },
    check: on(foundInLarge('straw', WIDE), async (t, { response }) => {
      expectTrue(
        linesOf(response).length <= 2000,
        'the response must have at most 2000 lines',
        linesOf(response).length,
      );
      const limits = { ...WIDE.limits, max_lines: 2000 };
      const asked = (await searchLarge(t, 'straw', { ...WIDE, limits })).response;
      expectSame(linesOf(asked), linesOf(response), 'the default of max_lines must be 2000');
      const few = (await searchLarge(t, 'straw', { limits: { max_lines: 5 } })).response;
      expectTrue(linesOf(few).length <= 5, 'the response must have at most 5 lines', linesOf(few).length);
      expectTrue(linesOf(few).length > 0, 'the search must have results');
      const one = await searchPatterns(t, '^word in', { limits: { max_lines: 1 } });
      expectSame(linesOf(one).length, 1, 'the response must have one line');
      // All twelve lines of the file are matches or context lines.
      const context = { before: 2, after: 2 };
      const around = await searchPatterns(t, '^plum', { paths: ['context.txt'], context, limits: { max_lines: 5 } });
      expectTrue(linesOf(around).length <= 5, 'the response must have at most 5 lines', linesOf(around).length);
      expectTrue(linesOf(around).length > 0, 'the search must have results');
    }),
  },
  {
    id: 'grep.max_lines.maximum',
    says: 'max_lines cannot raise the limit above 2000.',
    clauses: { context: 'Context lines count as lines of the response.' },
    check: on(largeRepository, async (t, { name }) => {
      for (const max_lines of [2001, 5000]) {
        const limits = { max_lines, max_matches_per_file: 5000 };
        const response = await grep(t, name, { query: { pattern: 'straw' }, pagination: { limit: 5000 }, limits });
        t.tolerate('A22', `max_lines ${max_lines}`, response, ['200', '400']);
        if (response.status !== 200) continue;
        const lines = linesOf(response).length;
        expectTrue(lines <= 2000, 'the response must have at most 2000 lines', lines);
      }
      // 1500 files have a match and one line after it.
      const wide = { query: { pattern: 'needle' }, context: { after: 1 }, pagination: { limit: 5000 } };
      const around = linesOf(expectStatus(await grep(t, name, wide), 200)).length;
      expectTrue(around <= 2000, 'the response must have at most 2000 lines, with context lines', around);
    }),
  },
  {
    id: 'grep.max_matches_per_file.default',
    says: 'A response has at most 200 matches per file, or max_matches_per_file if that is given.',
    clauses: {
      'each-file': 'The limit applies to each file, so that matches in one file do not hide those in another.',
      exact: 'A file with exactly as many matches as the limit has all of them.',
    },
    check: async (t) => {
      const many = (await searchLarge(t, 'dense', { ...DENSE, pagination: { limit: 5000 } })).response;
      expectTrue(matchesOf(many).length <= 200, 'the response must have at most 200 matches', matchesOf(many).length);
      const limits = { max_matches_per_file: 200 };
      const asked = (await searchLarge(t, 'dense', { ...DENSE, pagination: { limit: 5000 }, limits })).response;
      expectSame(linesOf(many), linesOf(asked), 'the default must be 200');
      const few = (await searchLarge(t, 'dense', { ...DENSE, limits: { max_matches_per_file: 3 } })).response;
      expectTrue(matchesOf(few).length <= 3, 'the response must have at most 3 matches', matchesOf(few).length);
      expectTrue(matchesOf(few).length > 0, 'the search must have results');
      for (const limit of [1, 2]) {
        const two = await searchPatterns(t, '^[ap]p*l[eu]', { limits: { max_matches_per_file: limit } });
        expectSame(pathsOf(two), ['case.txt', 'context.txt'], 'matches in both files must be found');
        const count = (path: string) => matchesOf(two).filter((line) => line.path === path).length;
        const most = Math.max(count('case.txt'), count('context.txt'));
        expectTrue(most <= limit, `each file must have at most ${limit} matches`, most);
      }
      // `case.txt` has exactly two lines that match this pattern.
      const exact = await searchPatterns(t, '^[Aa]pple', { limits: { max_matches_per_file: 2 } });
      expectSame(textsOf(exact), ['apple', 'Apple'], 'both matches of a file must be found');
    },
  },
  leftOpen(
    'grep.limits.invalid',
    'The specification does not say how limits that are zero, negative or not integers are treated.',
    sampleContent,
    async (t, { name }) => {
      for (const limit of ['max_lines', 'max_matches_per_file']) {
        for (const value of [0, -1, 'x', 1.5]) {
          const response = await grep(t, name, { query: { pattern: 'e' }, limits: { [limit]: value } });
          t.observe(`${limit} ${value}`, response);
        }
      }
      for (const limit of [0, -1, 'x']) {
        t.observe(`limit ${limit}`, await grep(t, name, { query: { pattern: 'e' }, pagination: { limit } }));
      }
    },
  ),
  leftOpen(
    'grep.limits.truncation',
    'The specification does not say whether lines cut by max_lines or max_matches_per_file are returned on a later page.',
    async (t) => {
      const lines = (await searchLarge(t, 'straw', { limits: { max_lines: 5 } })).response;
      t.observe('max_lines', { has_more: lines.find('has_more'), cursor: typeof lines.find('next_cursor') });
      const matches = (await searchLarge(t, 'dense', { ...DENSE, limits: { max_matches_per_file: 3 } })).response;
      t.observe('max_matches_per_file', {
        has_more: matches.find('has_more'),
        cursor: typeof matches.find('next_cursor'),
      });
    },
  ),
  {
    id: 'grep.page.limit.default',
    says: 'A page has at most 200 matches by default; has_more says whether more matches follow.',
    clauses: { 'with-cursor': 'A page for a cursor without a limit has at most 200 matches.' },
    check: on(foundInLarge('needle'), async (t, { response }) => {
      expectTrue(
        response.array('matches').length <= 200,
        'the response must have at most 200 matches',
        response.array('matches').length,
      );
      const asked = (await searchLarge(t, 'needle', { pagination: { limit: 200 } })).response;
      expectSame(linesOf(response), linesOf(asked), 'the default must be 200');
      expectSame(response.boolean('has_more'), true, 'has_more must be true');
      const pagination = { cursor: response.string('next_cursor') };
      const next = (await searchLarge(t, 'needle', { pagination })).response.array('matches').length;
      expectTrue(next > 0 && next <= 200, 'the next page must have at most 200 matches', next);
    }),
  },
  {
    id: 'grep.page.limit.explicit',
    says: 'pagination.limit is the maximum number of matches on a page.',
    clauses: { one: 'With a limit of 1, a page has one match, and the page after it has the next one.' },
    check: on(foundInLarge('straw', { pagination: { limit: 3 } }), async (t, { response }) => {
      const items = response.array('matches').length;
      expectTrue(items > 0 && items <= 3, 'the page must have at most three matches', items);
      const ofMatches = matchesOf(response).length <= 3 ? 'match lines' : 'items of matches';
      const unit = linesOf(response).length <= 3 ? 'lines' : ofMatches;
      t.observe('smallest unit within the limit', unit);
      const { name } = await patternRepository(t);
      const pages = await allPages(t, name, { query: { pattern: '^word in' }, paths: ['lib'] }, 1);
      const counts = pages.map((page) => page.array('matches').length).filter((count) => count > 0);
      expectSame(counts, [1, 1, 1], 'each of three pages must have one match');
    }),
  },
  {
    id: 'grep.page.cursor.continues',
    says: 'Following next_cursor to the end returns every match exactly once.',
    clauses: {
      filters: 'All pages obey the filters of the request.',
      'one-file': 'The matches of one file are complete if a page ends between them.',
      lines: 'The lines on later pages have the same numbers and texts as without pages.',
      query: 'Every page repeats the query.',
      commit: 'Every page has the searched commit in repo.commit.',
      ref: 'Every page reads the ref of the request.',
      context: 'Matches on later pages have their context lines.',
    },
    check: on(largeRepository, async (t, { name }) => {
      const body = { query: { pattern: 'needle' }, paths: ['hay'] };
      const pages = await allPages(t, name, body, 400);
      const seen = pages.flatMap((page) => matchesOf(page).map(({ path, line }) => `${path}:${line}`));
      expectSame(seen.length, new Set(seen).size, 'no match may be repeated');
      expectSame(seen.length, TWO_LINE_FILES, 'every match must be returned');
      expectTrue(pages.length > 1, 'the result must have more than one page', pages.length);
      const { name: patterns, tip } = await patternRepository(t);
      for (const more of [
        { query: { pattern: '^WORD in', case_sensitive: false }, file_filters: { include_globs: ['**/*.js'] } },
        { query: { pattern: '^word in' }, paths: ['lib', 'doc'], file_filters: { exclude_globs: ['lib/**'] } },
        { query: { pattern: '^plum' }, paths: ['context.txt'] },
      ]) {
        const whole = matchesOf(expectStatus(await grep(t, patterns, more), 200));
        expectTrue(whole.length > 2, 'the search must have results');
        const parts = await allPages(t, patterns, more, 2);
        for (const part of parts) {
          expectSame(part.find('query', 'pattern'), more.query.pattern, 'every page must repeat the pattern');
          expectSame(part.find('repo', 'commit'), tip, 'every page must have the searched commit');
        }
        const paged = parts.flatMap(matchesOf);
        expectSame(sorted(paged), sorted(whole), 'all pages together must have the matches of one large page');
      }
      const { name: history } = await historyRepository(t);
      const old = await allPages(t, history, { query: { pattern: 'edition|hello' }, ref: 'v1' }, 2);
      const texts = ['echo hello', 'first edition', 'hello reader', 'hello world'];
      expectSame(old.flatMap(textsOf).sort(), texts, 'all pages must show the lines of the ref');
      const ends = { query: { pattern: '^plum 12*$' }, paths: ['context.txt'], context: { before: 1, after: 1 } };
      const around = (await allPages(t, patterns, ends, 1)).flatMap(linesOf);
      const numbers = [...new Set(around.map(({ line }) => Number(line)))].sort((a, b) => a - b);
      expectSame(numbers, [1, 2, 11, 12], 'all pages together must show each match with its context lines');
    }),
  },
  {
    id: 'grep.page.cursor.invalid',
    says: 'A cursor that the service never issued is refused with 400.',
    check: on(sampleContent, async (t, { name }) => {
      const pagination = { cursor: 'not-a-cursor' };
      expectStatus(await grep(t, name, { query: { pattern: 'e' }, pagination }), 400);
    }),
  },
  {
    id: 'grep.resp.next_cursor',
    says: 'next_cursor is a non-empty string if another page exists.',
    check: on(foundInLarge('needle', { pagination: { limit: 2 } }), async (_t, { response }) => {
      expectSame(response.boolean('has_more'), true, 'has_more must be true');
      expectOther(response.string('next_cursor'), '', 'next_cursor must not be empty');
    }),
  },
  {
    id: 'grep.resp.has_more',
    says: 'has_more is a boolean; it is false if all matches fit on the page.',
    clauses: {
      exact: 'has_more is false on a page with exactly as many matches as its limit, if no other match exists.',
      below: 'has_more is true if one match does not fit on the page.',
      last: 'has_more is false on the last of several pages.',
      none: 'has_more is false if nothing matches.',
    },
    check: on(foundInLarge('needle 7$'), async (t, { response }) => {
      expectSame(response.boolean('has_more'), false, 'has_more must be false');
      const none = await searchPatterns(t, 'no such words anywhere');
      expectSame(none.boolean('has_more'), false, 'has_more must be false if nothing matches');
      expectSame(matchesOf(response).length, 1, `one of ${TWO_LINE_FILES + DENSE_LINES} lines must match`);
      const all = WORD_PATHS.length;
      for (const limit of [all - 1, all, all + 1]) {
        const page = await searchPatterns(t, '^word in', { pagination: { limit } });
        const isComplete = matchesOf(page).length === all;
        expectSame(page.boolean('has_more'), !isComplete, `has_more on a page of ${limit} for ${all} matches`);
        if (limit < all) expectSame(isComplete, false, 'one match must not fit on the page');
      }
      const { name } = await patternRepository(t);
      const pages = await allPages(t, name, { query: { pattern: '^word in' } }, all - 1);
      const total = pages.flatMap(matchesOf).length;
      expectSame([pages.at(-1)?.boolean('has_more'), total], [false, all], 'the last page must end the list');
      t.observe('next_cursor of the last page', typeof pages.at(-1)?.find('next_cursor'));
    }),
  },
]);

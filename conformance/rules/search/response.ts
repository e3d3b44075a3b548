import { ABSENT_SHA, grep } from '../../api/requests.js';
import { expectMatch, expectOneOf, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { namesLike } from '../../check/other-names.js';
import { sampleContent } from '../../fixtures/content.js';
import { ODD_PATH } from '../../fixtures/history.js';
import { INDENTED_LINE, LONG_LINE, MARKED_LINE } from '../../fixtures/patterns.js';
import { faulted, forcedFailures } from '../documented-operations.js';
import { defineRules, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import {
  allPages,
  findsIn,
  found,
  linesOf,
  matchesOf,
  search,
  searchesCommit,
  searchPatterns,
  textsOf,
} from './found.js';

export const searchResponse = defineRules('1. Search', 'search-response', [
  {
    id: 'grep.resp.query.pattern',
    says: 'The response repeats query.pattern and query.case_sensitive.',
    clauses: {
      capitals: 'Capitals in the pattern are kept if case is ignored.',
      escapes: 'Characters that URLs and HTML escape, and non-ASCII characters, are kept.',
      'case-sensitive': 'query.case_sensitive is that of the request, or true without one.',
    },
    check: on(found('hello', { query: { case_sensitive: false } }), async (t, { response }) => {
      const { pattern, case_sensitive } = response.record('query');
      expectSame([pattern, case_sensitive], ['hello', false], 'query must repeat the request');
      const plain = (await search(t, 'hello')).response;
      expectSame(plain.find('query', 'case_sensitive'), true, 'query must contain the default of case_sensitive');
      for (const sent of ['HeLLo', 'é %20 <b> & "']) {
        const query = { pattern: sent, case_sensitive: false };
        const shown = (await search(t, sent, { query })).response.record('query');
        expectSame([shown.pattern, shown.case_sensitive], [sent, false], 'query must repeat the request');
      }
    }),
  },
  {
    id: 'grep.resp.repo.ref',
    says: 'repo.ref is a string.',
    check: async (t) => t.observe('ref', (await search(t, 'hello')).response.string('repo', 'ref')),
  },
  {
    id: 'grep.resp.repo.commit',
    says: 'repo.commit is the full SHA of the searched commit.',
    check: (t) => searchesCommit(t, 'second', 'edition', ['second edition'], { ref: 'v2' }),
  },
  {
    id: 'grep.resp.matches.array',
    says: 'matches is an empty array if nothing matches.',
    check: async (t) =>
      expectSame((await search(t, 'no such words anywhere')).response.array('matches'), [], 'matches must be empty'),
  },
  {
    id: 'grep.resp.match.path',
    says: 'Every match has the path of a file and an array of lines.',
    clauses: { 'odd-characters': 'A path with a space and a non-ASCII character is shown unchanged.' },
    check: on(found('foobar'), async (t, { history, response }) => {
      await findsIn(t, [ODD_PATH], 'found by its name');
      const matches = response.records('matches');
      expectTrue(matches.length > 0, 'the search must have results');
      for (const { path, lines } of matches) {
        expectTrue(String(path) in history.files, 'path must be a file of the tree', path);
        expectTrue(Array.isArray(lines) && lines.length > 0, 'lines must be a non-empty array', lines);
      }
    }),
  },
  {
    id: 'grep.resp.line.line_number',
    says: 'line_number is an integer that starts at 1.',
    check: on(found('foobar', { paths: ['src'] }), async (_t, { history, response }) => {
      expectTrue(matchesOf(response).length > 0, 'the search must have results');
      for (const { path, line, text } of matchesOf(response)) {
        expectTrue(Number.isInteger(line), 'line_number must be an integer', line);
        const lines = history.files[path]?.toString().split('\n') ?? [];
        expectSame(lines[Number(line) - 1], text, `line ${line} of ${path}`);
      }
      expectSame(
        matchesOf(response).find(({ path }) => path === 'src/app.js')?.line,
        1,
        'the first line must have the number 1',
      );
    }),
  },
  {
    id: 'grep.resp.line.text',
    says: 'text is the text of the line.',
    clauses: {
      long: 'A line of 300 characters is complete.',
      indented: 'White space at the start and end of the line is kept.',
      'non-ascii': 'Non-ASCII characters are kept.',
      markup: 'Characters that HTML escapes are kept.',
      unterminated: 'The last line of a file is found if no newline follows it.',
    },
    check: on(found('^foobar', { paths: ['src/app.js'] }), async (t, { response }) => {
      const [line] = response.records('matches').flatMap(({ lines }) => lines as { text: unknown }[]);
      expectMatch(line?.text, /^foobar\n?$/, 'text must be the text of the line');
      t.observe('trailing newline', String(line.text).endsWith('\n'));
      const lines = textsOf(await searchPatterns(t, '^long|indented', { paths: ['lines.txt'] }));
      expectSame(lines, [LONG_LINE, INDENTED_LINE], 'text must be the complete line');
      const marked = textsOf(await searchPatterns(t, '^marked'));
      expectSame(marked, [MARKED_LINE], 'text must be the line with all its characters');
      const last = textsOf(await searchPatterns(t, '^three', { paths: ['crlf.txt'] }));
      expectSame(last, ['three'], 'the last line must be found');
    }),
  },
  {
    id: 'grep.resp.line.type',
    says: 'type is match for lines that match the pattern and context for the others.',
    check: on(
      found('foobaz', { paths: ['src/app.js'], context: { before: 1, after: 1 } }),
      async (_t, { response }) => {
        for (const { type } of linesOf(response))
          expectOneOf(type, ['match', 'context'], 'type must be match or context');
        const lines = linesOf(response).map(({ type, text }) => `${type} ${text}`);
        expectSame(lines, ['context foobar', 'match foobaz', 'context foobat'], 'each line must have its type');
      },
    ),
  },
  {
    id: 'grep.x-cache',
    says: 'The response has the header X-Cache with the value HIT or MISS.',
    clauses: {
      'next-page': 'The response with the next page has the header too.',
      'no-matches': 'The response to a search without matches has the header too.',
    },
    check: on(sampleContent, async (t, { name }) => {
      const seen = [];
      for (let turn = 0; turn < 2; turn++) {
        const response = expectStatus(await grep(t, name, { query: { pattern: 'sample' } }), 200);
        expectOneOf(response.header('x-cache'), ['HIT', 'MISS'], 'X-Cache must be HIT or MISS');
        seen.push(response.header('x-cache'));
      }
      t.observe('two equal requests', seen);
      const none = expectStatus(await grep(t, name, { query: { pattern: 'no-such-word-5ca1ab1e' } }), 200);
      expectOneOf(none.header('x-cache'), ['HIT', 'MISS'], 'X-Cache of a search without matches must be HIT or MISS');
      const pages = await allPages(t, name, { query: { pattern: 'e' } }, 1);
      for (const page of pages.slice(1, 3))
        expectOneOf(page.header('x-cache'), ['HIT', 'MISS'], 'X-Cache of a later page must be HIT or MISS');
    }),
  },
  ...tokenRules('grep', {
    noHeader: 'grep.err.401.no-header',
    invalid: 'grep.err.403.invalid-jwt',
    scope: 'grep.err.403.scope',
    missingRepo: 'grep.err.404.repo',
  }),
  {
    id: 'grep.err.404.ref',
    says: 'A ref that does not exist is refused with 404.',
    clauses: {
      sha: 'A full SHA that no commit has is refused with 404.',
      similar: 'The name of a branch in other letters, shortened or extended is another name.',
    },
    check: on(sampleContent, async (t, { name }) => {
      expectStatus(await grep(t, name, { query: { pattern: 'e' }, ref: ABSENT_SHA }), 404);
      for (const ref of ['no-such-ref', ...namesLike(t.defaultBranch)]) {
        const response = await grep(t, name, { query: { pattern: 'e' }, ref });
        t.tolerate('A28', 'missing ref, grep', response, [
          '404 ref_not_found',
          '404 not_found',
          '404 branch_not_found',
        ]);
      }
    }),
  },
  ...forcedFailures('grep', [
    ['grep.err.500', 'A search whose Git command fails is answered with 500.', 500, 'internal_error'],
  ]),
  {
    id: 'grep.err.503.sync',
    says: 'A search is answered with 503 while an upstream sync of the repository runs.',
    reach: 'emulator',
    check: on(faulted('grep', 'sync_in_progress'), async (t, response) =>
      t.tolerate('A05', 'syncing, grep', response, ['503', '409 sync_in_progress']),
    ),
  },
  ...forcedFailures('grep', [
    ['grep.err.503.storage', 'A search is answered with 503 if storage is unavailable.', 503, 'service_unavailable'],
    ['grep.err.504', 'A search that exceeds its time limit is answered with 504.', 504, 'gateway_timeout'],
  ]),
]);

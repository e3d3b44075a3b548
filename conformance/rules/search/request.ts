import { grep } from '../../api/requests.js';
import { expectOther, expectProblem, expectSame, expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on, rulesBy } from '../rule.js';
import { found, matchesOf, pathsOf, search, searchesCommit, textsOf } from './found.js';

/** Searches the history repository (fixture with known commits), and expects matches in exactly these files. */
async function findsIn(t: RuleContext, paths: readonly string[], pattern: string, more?: object): Promise<void> {
  expectSame(pathsOf((await search(t, pattern, more)).answer), paths, 'the matches must be in exactly these files');
}

export const searchRequest = defineRules('1. Search', 'search-request', [
  {
    id: 'grep.route',
    says: 'POST /api/v1/repos/grep with a JSON body searches the files of a repository.',
    check: on(sampleContent, async (t, { name }) =>
      expectStatus(await grep(t, name, { query: { pattern: 'e' } }), 200),
    ),
  },
  {
    id: 'grep.repo-from-claim',
    says: 'The search reads the repository in the repo claim of the token.',
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      const own = { 'bytes of the sample': a, 'bytes of the other': b };
      for (const [text, { name, tip }] of Object.entries(own)) {
        const response = await grep(t, name, { query: { pattern: 'bytes of' } });
        expectSame(textsOf(response), [text], 'each token must find only the files of its own repository');
        expectSame(response.string('repo', 'commit'), tip, 'each token must search its own commit');
      }
    },
  },
  {
    id: 'grep.beta',
    says: 'The specification marks search as beta.',
    level: 'MAY',
    check: on(sampleContent, async (t, { name }) => {
      const { exchange } = await grep(t, name, { query: { pattern: 'e' } });
      const marks = Object.keys(exchange.headers).filter((header) => /beta|warning|preview/.test(header));
      t.observe('headers', marks);
    }),
  },
  ...rulesBy(searchesCommit, [
    ['grep.ref.default', 'A search without ref reads the tip of the default branch.', 'third', 'foobar'],
    ['grep.ref.branch', 'ref can be a branch.', 'feature', 'feature', { ref: 'feature' }],
    ['grep.ref.tag', 'ref can be a tag.', 'first', 'edition', { ref: 'v1' }],
  ]),
  {
    id: 'grep.ref.sha',
    says: 'ref can be a commit SHA; the search then reads the files of that commit.',
    check: on(historyRepository, async (t, { first }) => {
      const { answer: response } = await search(t, 'first edition', { ref: first.sha });
      expectSame(response.string('repo', 'commit'), first.sha, 'repo.commit must be the requested commit');
      expectSame(pathsOf(response), ['README.md'], 'old content must be found');
    }),
  },
  {
    id: 'grep.pattern.required',
    says: 'A search without query or without query.pattern is 400.',
    check: on(sampleContent, async (t, { name }) => {
      for (const body of [{}, { query: {} }]) expectStatus(await grep(t, name, body), 400);
    }),
  },
  {
    id: 'grep.pattern.regex',
    says: 'The pattern is a regular expression.',
    check: on(found('fo+ba[rz]', { paths: ['src/app.js'] }), async (_t, { answer: response }) =>
      expectSame(textsOf(response), ['foobar', 'foobaz'], 'the matches must be exactly these lines'),
    ),
  },
  leftOpen(
    'grep.pattern.dialect',
    'The specification does not name the dialect of regular expressions.',
    sampleContent,
    async (t, { name }) => {
      for (const pattern of ['(?=e)e', '(e)\\1', '\\d+', '[[:alpha:]]', '\\bsample\\b', '(?i)SAMPLE', 'e{1,2}']) {
        t.observe(pattern, await grep(t, name, { query: { pattern } }));
      }
    },
  ),
  {
    id: 'grep.pattern.type',
    says: 'A pattern that is not a string is 400.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) => {
      t.observe('empty pattern', await grep(t, name, { query: { pattern: '' } }));
      expectStatus(await grep(t, name, { query: { pattern: 5 } }), 400);
    }),
  },
  {
    id: 'grep.case.default-true',
    says: 'A search is case-sensitive by default.',
    check: async (t) => {
      for (const query of [{}, { case_sensitive: true }]) {
        expectSame(matchesOf((await search(t, 'HELLO', { query })).answer), [], 'HELLO must not match hello');
      }
      expectOther(matchesOf((await search(t, 'hello')).answer), [], 'hello must be found');
    },
  },
  ...rulesBy(findsIn, [
    [
      'grep.case.false',
      'case_sensitive false ignores case.',
      ['bin/run.sh', 'docs/guide.md', 'src/app.js'],
      'HELLO',
      { query: { case_sensitive: false } },
    ],
  ]),
  {
    id: 'grep.paths',
    says: 'paths restricts the search to the listed paths and what is below them.',
    check: async (t) => {
      await findsIn(t, ['src/app.js', 'src/lib/deep.js', 'src/types.ts'], 'fo+ba', { paths: ['src'] });
      await findsIn(t, ['docs/guide.md', 'src/lib/deep.js'], 'fo+ba', { paths: ['src/lib', 'docs'] });
    },
  },
  {
    id: 'grep.include_globs',
    says: 'include_globs keeps only files that match a glob, at any depth.',
    check: on(found('fo+ba', { file_filters: { include_globs: ['**/*.js'] } }), async (t, { answer: response }) => {
      expectSame(pathsOf(response), ['src/app.js', 'src/lib/deep.js'], 'the result must contain only JavaScript files');
      const both = { include_globs: ['**/*.js'], exclude_globs: ['**/*.js'] };
      t.observe('in both lists', pathsOf((await search(t, 'fo+ba', { file_filters: both })).answer));
      const two = { include_globs: ['**/*.ts', 'docs/**'] };
      await findsIn(t, ['docs/guide.md', 'src/types.ts'], 'fo+ba', { file_filters: two });
    }),
  },
  {
    id: 'grep.exclude_globs',
    says: 'exclude_globs leaves out files that match a glob.',
    check: async (t) => {
      const searchWithout = (exclude_globs: readonly string[], found: readonly string[]) =>
        findsIn(t, found, 'foobar', { file_filters: { exclude_globs }, paths: ['src', 'docs'] });
      await searchWithout(['**/*.md'], ['src/app.js', 'src/types.ts']);
      await searchWithout(['**/*.md', '**/*.ts'], ['src/app.js']);
    },
  },
  {
    id: 'grep.extension_filters',
    says: 'extension_filters keeps only files with one of the listed extensions.',
    check: on(found('foobar', { file_filters: { extension_filters: ['.ts'] } }), async (t, { answer: response }) => {
      expectSame(pathsOf(response), ['src/types.ts'], 'only .ts');
      const history = await historyRepository(t);
      const bare = await grep(t, history.name, {
        query: { pattern: 'foobar' },
        file_filters: { extension_filters: ['ts'] },
      });
      t.observe('without the dot', bare.status === 200 ? pathsOf(bare) : bare.outcome);
      const two = { extension_filters: ['.ts', '.md'] };
      await findsIn(t, ['docs/guide.md', 'src/types.ts'], 'foobar', { file_filters: two });
    }),
  },
  {
    id: 'grep.context.before',
    says: 'context.before and context.after add that many lines before and after each match.',
    check: on(
      found('^plum$', { paths: ['context.txt'], context: { before: 2, after: 1 } }),
      async (t, { answer: response }) => {
        const lines = response.records('matches').flatMap(({ lines }) => lines as { text: string; type: string }[]);
        const seen = lines.map(({ text, type }) => `${type} ${text.trimEnd()}`);
        expectSame(
          seen,
          ['context three', 'context four', 'match plum', 'context six'],
          'the match must have two lines before it and one after',
        );
        const bare = (await search(t, '^plum$', { paths: ['context.txt'] })).answer;
        t.observe('lines without context', bare.records('matches').flatMap(({ lines }) => lines).length);
      },
    ),
  },
  {
    id: 'grep.large-binary-excluded',
    says: 'A search may leave out binary and large files.',
    level: 'MAY',
    check: on(found('plumfoobar'), async (t, { answer: response }) =>
      t.observe('binary file', pathsOf(response).includes('binary.bin') ? 'searched' : 'left out'),
    ),
  },
  {
    id: 'grep.err.400.regex',
    says: 'A pattern that is not a valid regular expression is 400.',
    check: on(sampleContent, async (t, { name }) => {
      expectProblem(await grep(t, name, { query: { pattern: '(' } }), 400, 'bad_request');
    }),
  },
  {
    id: 'grep.err.400.json',
    says: 'A body that is not valid JSON is 400.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) => expectStatus(await grep(t, name, undefined, { body: '{' }), 400)),
  },
]);

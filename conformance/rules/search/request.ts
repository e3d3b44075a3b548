import { grep } from '../../api/requests.js';
import { expectOther, expectProblem, expectSame, expectStatus } from '../../check/expect.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { found, matchesOf, pathsOf, search } from './found.js';

export const searchRequest = defineRules('1. Search', 'search-request', [
  {
    id: 'grep.route',
    says: 'POST /api/v1/repos/grep with a JSON body searches.',
    check: on(sampleContent, async (t, { name }) =>
      expectStatus(await grep(t, name, { query: { pattern: 'e' } }), 200),
    ),
  },
  {
    id: 'grep.repo-from-claim',
    says: 'The repository that is searched is the one the token names.',
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      const answers = [];
      for (const { name } of [a, b]) answers.push(await grep(t, name, { query: { pattern: 'bytes of' } }));
      expectSame(
        answers.map((answer) => matchesOf(answer).map(({ text }) => text)),
        [['bytes of the sample'], ['bytes of the other']],
        'each token finds its own',
      );
      expectSame(
        answers.map((answer) => answer.string('repo', 'commit')),
        [a.tip, b.tip],
        'each in its own commit',
      );
    },
  },
  {
    id: 'grep.beta',
    says: 'Search is marked beta.',
    level: 'MAY',
    check: on(sampleContent, async (t, { name }) => {
      const { exchange } = await grep(t, name, { query: { pattern: 'e' } });
      t.observe(
        'headers',
        Object.keys(exchange.headers).filter((header) => /beta|warning|preview/.test(header)),
      );
    }),
  },
  {
    id: 'grep.ref.default',
    says: 'A search without ref looks at the tip of the default branch.',
    check: on(found('foobar'), async (_t, { history, answer }) =>
      expectSame(answer.string('repo', 'commit'), history.third.sha, 'repo.commit is the tip'),
    ),
  },
  {
    id: 'grep.ref.branch',
    says: 'ref may be a branch.',
    check: on(found('feature', { ref: 'feature' }), async (_t, { history, answer }) =>
      expectSame(answer.string('repo', 'commit'), history.feature.sha, 'repo.commit is the tip of the branch'),
    ),
  },
  {
    id: 'grep.ref.tag',
    says: 'ref may be a tag.',
    check: on(found('edition', { ref: 'v1' }), async (_t, { history, answer }) =>
      expectSame(answer.string('repo', 'commit'), history.first.sha, 'repo.commit is the tagged commit'),
    ),
  },
  {
    id: 'grep.ref.sha',
    says: 'ref may be a commit, and what the commit held is found.',
    check: on(historyRepository, async (t, { first }) => {
      const { answer } = await search(t, 'first edition', { ref: first.sha });
      expectSame(answer.string('repo', 'commit'), first.sha, 'repo.commit is that commit');
      expectSame(pathsOf(answer), ['README.md'], 'old content is found');
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
    check: on(found('fo+ba[rz]', { paths: ['src/app.js'] }), async (_t, { answer }) =>
      expectSame(
        matchesOf(answer).map(({ text }) => text),
        ['foobar', 'foobaz'],
        'the lines it matches',
      ),
    ),
  },
  leftOpen(
    'grep.pattern.dialect',
    'Which regular expressions are understood beyond the common ones is left open.',
    sampleContent,
    async (t, { name }) => {
      for (const pattern of ['(?=e)e', '(e)\\1', '\\d+', '[[:alpha:]]', '\\bsample\\b', '(?i)SAMPLE', 'e{1,2}']) {
        t.observe(pattern, await grep(t, name, { query: { pattern } }));
      }
    },
  ),
  {
    id: 'grep.pattern.type',
    says: 'A pattern that is no string is 400.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) => {
      t.observe('empty pattern', await grep(t, name, { query: { pattern: '' } }));
      expectStatus(await grep(t, name, { query: { pattern: 5 } }), 400);
    }),
  },
  {
    id: 'grep.case.default-true',
    says: 'Case counts unless the request says otherwise.',
    check: async (t) => {
      for (const query of [{}, { case_sensitive: true }]) {
        expectSame(matchesOf((await search(t, 'HELLO', { query })).answer), [], 'HELLO is not hello');
      }
      expectOther(matchesOf((await search(t, 'hello')).answer), [], 'hello is found');
    },
  },
  {
    id: 'grep.case.false',
    says: 'case_sensitive false finds either case.',
    check: on(found('HELLO', { query: { case_sensitive: false } }), async (_t, { answer }) =>
      expectSame(pathsOf(answer), ['bin/run.sh', 'docs/guide.md', 'src/app.js'], 'every hello is found'),
    ),
  },
  {
    id: 'grep.paths',
    says: 'paths keeps the search below the paths listed.',
    check: on(found('fo+ba', { paths: ['src'] }), async (_t, { answer }) =>
      expectSame(pathsOf(answer), ['src/app.js', 'src/lib/deep.js', 'src/types.ts'], 'only what lies below src'),
    ),
  },
  {
    id: 'grep.include_globs',
    says: 'include_globs keeps the files that fit a glob, at any depth.',
    check: on(found('fo+ba', { file_filters: { include_globs: ['**/*.js'] } }), async (t, { answer }) => {
      expectSame(pathsOf(answer), ['src/app.js', 'src/lib/deep.js'], 'only JavaScript');
      const both = { include_globs: ['**/*.js'], exclude_globs: ['**/*.js'] };
      t.observe('in both lists', pathsOf((await search(t, 'fo+ba', { file_filters: both })).answer));
    }),
  },
  {
    id: 'grep.exclude_globs',
    says: 'exclude_globs drops the files that fit a glob.',
    check: async (t) => {
      const { answer } = await search(t, 'foobar', {
        file_filters: { exclude_globs: ['**/*.md'] },
        paths: ['src', 'docs'],
      });
      expectSame(pathsOf(answer), ['src/app.js', 'src/types.ts'], 'no Markdown');
    },
  },
  {
    id: 'grep.extension_filters',
    says: 'extension_filters keeps the files with such an extension.',
    check: on(found('foobar', { file_filters: { extension_filters: ['.ts'] } }), async (t, { answer }) => {
      expectSame(pathsOf(answer), ['src/types.ts'], 'only .ts');
      const history = await historyRepository(t);
      const bare = await grep(t, history.name, {
        query: { pattern: 'foobar' },
        file_filters: { extension_filters: ['ts'] },
      });
      t.observe('without the dot', bare.status === 200 ? pathsOf(bare) : bare.outcome);
    }),
  },
  {
    id: 'grep.context.before',
    says: 'context.before and context.after add that many lines on each side of a match.',
    check: on(found('^plum$', { paths: ['context.txt'], context: { before: 2, after: 1 } }), async (t, { answer }) => {
      const lines = answer.records('matches').flatMap(({ lines }) => lines as { text: string; type: string }[]);
      const seen = lines.map(({ text, type }) => `${type} ${text.trimEnd()}`);
      expectSame(seen, ['context three', 'context four', 'match plum', 'context six'], 'two lines before, one after');
      const bare = (await search(t, '^plum$', { paths: ['context.txt'] })).answer;
      t.observe('lines without context', bare.records('matches').flatMap(({ lines }) => lines).length);
    }),
  },
  {
    id: 'grep.large-binary-excluded',
    says: 'Binary and large files may be left out.',
    level: 'MAY',
    check: on(found('plumfoobar'), async (t, { answer }) =>
      t.observe('binary file', pathsOf(answer).includes('binary.bin') ? 'searched' : 'left out'),
    ),
  },
  {
    id: 'grep.err.400.regex',
    says: 'A pattern that is no regular expression is 400.',
    check: on(sampleContent, async (t, { name }) => {
      expectProblem(await grep(t, name, { query: { pattern: '(' } }), 400, 'bad_request');
    }),
  },
  {
    id: 'grep.err.400.json',
    says: 'A body that is no JSON is 400.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) => expectStatus(await grep(t, name, undefined, { body: '{' }), 400)),
  },
]);

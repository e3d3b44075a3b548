import { grep } from '../../api/requests.js';
import {
  expectOneOf,
  expectOther,
  expectProblem,
  expectRefused,
  expectSame,
  expectStatus,
} from '../../check/expect.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { ON_OTHER_DEFAULT, otherDefaultRepository } from '../../fixtures/other-default.js';
import { patternRepository, SLASH_BRANCH, SLASH_FILE, UNUSUAL_FILES } from '../../fixtures/patterns.js';
import { otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on, rulesBy } from '../rule.js';
import { searchFilters } from './filters.js';
import { findsIn, found, matchesOf, pathsOf, search, searchesCommit, searchPatterns, textsOf } from './found.js';

export const searchRequest = defineRules('1. Search', 'search-request', [
  {
    id: 'grep.route',
    says: 'POST /api/v1/repos/grep with a JSON body searches the files of a repository.',
    clauses: {
      hidden: 'A file in a folder whose name begins with a dot is searched.',
      ignored: 'A committed file that .gitignore names is searched.',
    },
    check: on(sampleContent, async (t, { name }) => {
      expectStatus(await grep(t, name, { query: { pattern: 'e' } }), 200);
      if (!t.target.write) return;
      const found = pathsOf(await searchPatterns(t, '^seldom found'));
      expectSame(found, Object.values(UNUSUAL_FILES), 'the files must be found');
    }),
  },
  {
    id: 'grep.repo-from-claim',
    says: 'The search reads the repository in the repo claim of the token.',
    clauses: { cursor: 'A cursor of another repository does not select the files of that repository.' },
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      const own = { 'bytes of the sample': a, 'bytes of the other': b };
      for (const [text, { name, tip }] of Object.entries(own)) {
        const response = await grep(t, name, { query: { pattern: 'bytes of' } });
        expectSame(textsOf(response), [text], 'each token must find only the files of its own repository');
        expectSame(response.string('repo', 'commit'), tip, 'each token must search its own commit');
      }
      const first = await searchPatterns(t, 'i', { pagination: { limit: 1 } });
      const pagination = { limit: 1, cursor: first.string('next_cursor') };
      const foreign = await grep(t, b.name, { query: { pattern: 'i' }, pagination });
      t.observe('cursor of another repository', foreign);
      if (foreign.status !== 200) return expectRefused(foreign);
      const files = ['README.md', 'other.txt', 'shared.txt'];
      for (const path of pathsOf(foreign))
        expectOneOf(path, files, 'each match must be in the repository of the token');
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
  {
    id: 'grep.ref.default',
    says: 'A search without ref reads the tip of the default branch.',
    clauses: { 'other-name': 'The default branch is that of the repository record, whatever its name is.' },
    check: async (t) => {
      await searchesCommit(t, 'third', 'hello w', ['hello worlds']);
      const name = await otherDefaultRepository(t);
      if (name === undefined) return;
      const response = expectStatus(await grep(t, name, { query: { pattern: 'branch' } }), 200);
      expectSame(textsOf(response), [ON_OTHER_DEFAULT.trimEnd()], 'the match must be the line on the default branch');
    },
  },
  {
    id: 'grep.ref.branch',
    says: 'ref can be a branch.',
    clauses: { slash: 'The name of the branch may contain a slash.' },
    check: async (t) => {
      await searchesCommit(t, 'feature', '^feature', ['feature'], { ref: 'feature' });
      const { slashTip } = await patternRepository(t);
      const response = await searchPatterns(t, '^on the branch', { ref: SLASH_BRANCH });
      expectSame(response.string('repo', 'commit'), slashTip, 'repo.commit must be the tip of the branch');
      expectSame(pathsOf(response), [SLASH_FILE], 'the file on the branch must be found');
    },
  },
  ...rulesBy(searchesCommit, [
    ['grep.ref.tag', 'ref can be a tag.', 'first', 'edition', ['first edition'], { ref: 'v1' }],
  ]),
  {
    id: 'grep.ref.sha',
    says: 'ref can be a commit SHA; the search then reads the files of that commit.',
    clauses: { 'side-branch': 'A commit that is not in the history of the default branch is searched.' },
    check: on(historyRepository, async (t, { first, feature }) => {
      await searchesCommit(t, 'feature', '^feature', ['feature'], { ref: feature.sha });
      const { response } = await search(t, 'first edition', { ref: first.sha });
      expectSame(response.string('repo', 'commit'), first.sha, 'repo.commit must be the requested commit');
      expectSame(pathsOf(response), ['README.md'], 'old content must be found');
    }),
  },
  {
    id: 'grep.pattern.required',
    says: 'A search without query or without query.pattern is refused with 400.',
    clauses: {
      query: 'A body without query or without query.pattern is refused.',
      empty: 'An empty body is refused.',
      list: 'A body that is a list is refused.',
      null: 'A pattern that is null is refused.',
      text: 'A query that is a string is refused.',
    },
    check: on(sampleContent, async (t, { name }) => {
      const bodies = [{}, { query: {} }, [{ query: { pattern: 'e' } }], { query: { pattern: null } }, { query: 'e' }];
      for (const body of bodies) expectStatus(await grep(t, name, body), 400);
      expectStatus(await grep(t, name, undefined, { body: '' }), 400);
    }),
  },
  {
    id: 'grep.pattern.regex',
    says: 'The pattern is a regular expression.',
    check: on(found('fo+ba[rz]', { paths: ['src/app.js'] }), async (_t, { response }) =>
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
    says: 'A pattern that is not a string is refused with 400.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) => {
      t.observe('empty pattern', await grep(t, name, { query: { pattern: '' } }));
      expectStatus(await grep(t, name, { query: { pattern: 5 } }), 400);
    }),
  },
  {
    id: 'grep.case.default-true',
    says: 'A search is case-sensitive by default.',
    clauses: {
      'capitals-in-pattern': 'A pattern with capitals finds no lower-case letters.',
      'capitals-in-text': 'A pattern in lower case finds no capitals.',
    },
    check: async (t) => {
      for (const query of [{}, { case_sensitive: true }]) {
        expectSame(matchesOf((await search(t, 'HELLO', { query })).response), [], 'HELLO must not match hello');
      }
      expectOther(matchesOf((await search(t, 'hello')).response), [], 'hello must be found');
      for (const pattern of ['apple', 'Apple'])
        expectSame(textsOf(await searchPatterns(t, pattern)), [pattern], `${pattern} must match only itself`);
    },
  },
  {
    id: 'grep.case.false',
    says: 'case_sensitive false ignores case.',
    clauses: {
      'capitals-in-pattern': 'A pattern with capitals finds lower-case letters.',
      'capitals-in-text': 'A pattern in lower case finds capitals.',
      'with-paths': 'With paths, case is ignored too.',
      'with-ref': 'With ref, case is ignored too.',
    },
    check: async (t) => {
      const query = { case_sensitive: false };
      await findsIn(t, ['README.md'], 'FIRST edition', { query, ref: 'v1' });
      const below = textsOf(await searchPatterns(t, 'aPPLe', { query, paths: ['case.txt'] }));
      expectSame(below, ['apple', 'APPLE', 'Apple'], 'the pattern must match in any case below a path');
      await findsIn(t, ['bin/run.sh', 'docs/guide.md', 'src/app.js'], 'HELLO', { query });
      for (const pattern of ['apple', 'aPPLe']) {
        const found = textsOf(await searchPatterns(t, pattern, { query }));
        expectSame(found, ['apple', 'APPLE', 'Apple'], `${pattern} must match in any case`);
      }
    },
  },
  ...searchFilters,
  {
    id: 'grep.large-binary-excluded',
    says: 'A search may leave out binary and large files.',
    level: 'MAY',
    check: on(found('plumfoobar'), async (t, { response }) =>
      t.observe('binary file', pathsOf(response).includes('binary.bin') ? 'searched' : 'left out'),
    ),
  },
  {
    id: 'grep.err.400.regex',
    says: 'A pattern that is not a valid regular expression is refused with 400.',
    clauses: { 'no-files': 'The pattern is refused as well if no file is below the paths of the search.' },
    check: on(sampleContent, async (t, { name }) => {
      const query = { pattern: '(' };
      expectProblem(await grep(t, name, { query }), 400, 'bad_request');
      expectStatus(await grep(t, name, { query, paths: ['no/such/folder'] }), 400);
    }),
  },
  {
    id: 'grep.err.400.json',
    says: 'A body that is not valid JSON is refused with 400.',
    level: 'SHOULD',
    check: on(sampleContent, async (t, { name }) => expectStatus(await grep(t, name, undefined, { body: '{' }), 400)),
  },
]);

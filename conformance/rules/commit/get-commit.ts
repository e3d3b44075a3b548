import { ABSENT_SHA, getCommit, reader } from '../../api/requests.js';
import { expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { namesLike } from '../../check/other-names.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { type HistoryRepository, historyRepository, type KnownCommit, SECOND } from '../../fixtures/history.js';
import { HEX_BRANCH, patternRepository, SLASH_BRANCH } from '../../fixtures/patterns.js';
import { otherRepository } from '../../fixtures/repositories.js';
import { defineRules, leftOpen, on, rulesBy } from '../rule.js';
import { tokenRules } from '../token-rules.js';

type Known = readonly (readonly [revision: string, commit: KnownCommit])[];

/**
 * Expects the target to resolve revisions of the history repository (fixture with known commits). `known` returns each
 * revision with its expected commit.
 */
async function resolves(t: RuleContext, known: (history: HistoryRepository) => Known) {
  const history = await historyRepository(t);
  for (const [revision, { sha }] of known(history)) {
    const response = expectStatus(await getCommit(t, history.name, revision), 200);
    expectSame(response.string('commit', 'sha'), sha, `commit.sha must be the commit that ${revision} names`);
  }
}

export const getCommitRules = defineRules('4. Get one commit', 'get-commit', [
  {
    id: 'commit.get.route',
    says: 'GET /api/v1/repos/commit?sha= answers 200 with commit.',
    check: on(sampleContent, async (t, { name, branch }) => {
      const response = expectStatus(await getCommit(t, name, branch), 200);
      response.record('commit');
    }),
  },
  {
    id: 'commit.get.repo-from-claim',
    says: 'A commit is found only in the repository in the repo claim of the token.',
    check: on(historyRepository, async (t, { name, first }) => {
      expectStatus(await getCommit(t, name, first.sha), 200);
      expectStatus(await getCommit(t, (await otherRepository(t)).name, first.sha), 404);
    }),
  },
  ...rulesBy(
    resolves,
    [
      [
        'commit.get.full-sha',
        'A full SHA resolves to its commit.',
        ({ first, second, feature }) => [
          [second.sha, second],
          [first.sha, first],
          [feature.sha, feature],
        ],
      ],
    ],
    { clauses: { 'side-branch': 'A commit that is not in the history of the default branch is found.' } },
  ),
  ...rulesBy(
    resolves,
    [
      [
        'commit.get.short-sha',
        'A short SHA resolves to its commit.',
        ({ second, feature }) => [
          [second.sha.slice(0, 8), second],
          [feature.sha.slice(0, 7), feature],
          [second.sha.slice(0, 39), second],
        ],
      ],
    ],
    {
      clauses: {
        'seven-digits': 'Seven digits are enough, as Git prints them.',
        'side-branch': 'A commit that is not in the history of the default branch is found.',
        'any-length': 'A short SHA may have up to 39 digits.',
      },
    },
  ),
  {
    id: 'commit.get.branch',
    says: 'A branch name resolves to the tip of the branch.',
    clauses: {
      slash: 'The name may contain a slash.',
      hexadecimal: 'The name may look like an abbreviated SHA, if no commit has this SHA.',
    },
    check: async (t) => {
      await resolves(t, ({ feature }) => [['feature', feature]]);
      const { name, slashTip, hexTip } = await patternRepository(t);
      for (const [branch, tip] of [
        [SLASH_BRANCH, slashTip],
        [HEX_BRANCH, hexTip],
      ] as const) {
        expectSame((await getCommit(t, name, branch)).find('commit', 'sha'), tip, `${branch} must resolve to its tip`);
      }
    },
  },
  ...rulesBy(resolves, [
    ['commit.get.tag', 'A tag resolves to the commit it points to.', ({ first }) => [['v1', first]]],
    [
      'commit.get.annotated-tag',
      'An annotated tag resolves to its commit, not to the tag object.',
      ({ second }) => [['v2', second]],
    ],
  ]),
  {
    id: 'commit.get.revision-syntax',
    says: 'Revisions of Git resolve: HEAD, ancestors such as main~1, and peeling such as main^{}.',
    level: 'SHOULD',
    clauses: {
      head: 'HEAD is the tip of the default branch.',
      ancestors: '~ and ^ after a branch, a tag or an SHA name an ancestor.',
      peeling: '^{} and ^{commit} name the commit of a branch or a tag.',
      'full-refs': 'refs/heads/ and refs/tags/ may precede a name.',
      capitals: 'An SHA in capital letters names its commit.',
    },
    check: on(historyRepository, async (t, { name, first, second, third }) => {
      const branch = t.defaultBranch;
      const known = {
        HEAD: third.sha,
        [`${branch}~1`]: second.sha,
        [`${third.sha}~2`]: first.sha,
        'v2^': first.sha,
        [`${branch}^{}`]: third.sha,
        'v2^{commit}': second.sha,
        [`refs/heads/${branch}`]: third.sha,
        'refs/tags/v1': first.sha,
        [first.sha.toUpperCase()]: first.sha,
      };
      for (const [revision, sha] of Object.entries(known)) {
        const response = await getCommit(t, name, revision);
        expectSame(response.find('commit', 'sha'), sha, `${revision} resolves`);
      }
    }),
  },
  {
    id: 'commit.get.sha.missing',
    says: 'A request without sha is refused with 400.',
    check: on(sampleContent, async (t, { name }) =>
      expectStatus(await t.get('/api/v1/repos/commit', { as: reader(name) }), 400),
    ),
  },
  {
    id: 'commit.get.sha.empty',
    says: 'A request with an empty sha is refused with 400.',
    check: async (t) => expectStatus(await getCommit(t, (await sampleContent(t)).name, ''), 400),
  },
  {
    id: 'commit.get.no-diff',
    says: 'The response has no diff of the commit.',
    check: on(historyRepository, async (t, { name, second }) => {
      const response = expectStatus(await getCommit(t, name, second.sha), 200);
      const members = [...Object.keys(response.record()), ...Object.keys(response.record('commit'))];
      const ofDiff = members.filter((member) => /^(diff|patch|files|changes|stats)$/.test(member));
      expectSame(ofDiff, [], 'the response must have no members of a diff');
      for (const changed of Object.keys(SECOND)) {
        expectTrue(
          !response.text.includes(changed),
          `the response must not mention the changed file ${changed}`,
          response.text,
        );
      }
    }),
  },
  {
    id: 'commit.get.404.commit',
    says: 'A commit that does not exist is refused with 404.',
    clauses: {
      name: 'A name that neither a branch nor a tag has is refused with 404.',
      similar: 'The name of a branch in other letters, shortened or extended is another name.',
      'short-sha': 'A short SHA that no commit has is refused with 404.',
    },
    check: on(sampleContent, async (t, { name }) => {
      const names = ['no-such-name-5ca1ab1e', ...namesLike(t.defaultBranch)];
      for (const revision of [ABSENT_SHA, ABSENT_SHA.slice(0, 12), ...names]) {
        const response = await getCommit(t, name, revision);
        t.tolerate('A28', 'missing commit', response, ['404 ref_not_found', '404 not_found']);
      }
    }),
  },
  ...tokenRules('commit', {
    noHeader: 'commit.get.401.no-header',
    invalid: 'commit.get.401.invalid-jwt',
    scope: 'commit.get.scope',
    missingRepo: 'commit.get.404.repo',
  }),
  leftOpen(
    'commit.get.not-a-commit',
    'The specification does not say how the SHA of a tree or an ambiguous short SHA is answered.',
    historyRepository,
    async (t, { name, first }) => {
      t.observe('tree', await getCommit(t, name, first.tree));
      t.observe('four digits', await getCommit(t, name, first.sha.slice(0, 4)));
    },
  ),
]);

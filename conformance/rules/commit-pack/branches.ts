import { commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { fileMetadata, mustTipOf, tipOf, ZEROS } from '../../api/requests.js';
import { expectAbsent, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createNamedRepository, groupRepository } from '../../fixtures/repositories.js';
import { clone } from '../../git/git-client.js';
import { defineWritingRules, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { expectFailureBody } from '../write-failure.js';

/**
 * Adds two commits to the repository that the rules of this group share, so that an SHA other than the tip can be used
 * as an outdated one.
 */
async function twoCommits(t: RuleContext) {
  const { name } = await groupRepository(t);
  const older = await commitFiles(t, name, { 'older.txt': t.uniqueName() });
  const newer = await commitFiles(t, name, { 'newer.txt': t.uniqueName() });
  return { name, older: older.sha, tip: newer.sha };
}

function newBranch(t: RuleContext): string {
  return `branch-${t.uniqueName().replaceAll('/', '-')}`;
}

async function parentsOf(t: RuleContext, repo: string, branch: string): Promise<readonly string[]> {
  const { git, tip } = await clone(t, repo, branch);
  return git.parents(tip);
}

export const packBranches = defineWritingRules('5. Commit pack', 'pack-branches', [
  {
    id: 'pack.expected_head.match',
    says: 'A request whose expected_head_sha equals the tip succeeds.',
    check: on(twoCommits, (t, { name, tip }) =>
      commitFiles(t, name, { 'match.txt': t.uniqueName() }, { expected_head_sha: tip }),
    ),
  },
  {
    id: 'pack.expected_head.mismatch',
    says: 'An expected_head_sha that differs from the tip is 409; the branch does not move.',
    check: on(twoCommits, async (t, { name, older, tip }) => {
      const expecting = (sha: string) => sendPack(t, name, packLines(t, { 'x.txt': 'x' }, { expected_head_sha: sha }));
      expectStatus(await expecting(older), 409);
      expectSame(await mustTipOf(t, name), tip, 'the branch tip must not change');
      t.observe('malformed', await expecting('xyz'));
      t.observe('zeros', await expecting(ZEROS));
    }),
  },
  {
    id: 'pack.expected_head.omitted',
    says: 'A request without expected_head_sha adds its commit to the current tip.',
    check: on(twoCommits, async (t, { name, older }) =>
      expectSame(
        await parentsOf(t, name, t.defaultBranch),
        [older],
        'the parent of the second commit must be the first commit',
      ),
    ),
  },
  {
    id: 'pack.expected_head.race',
    says: 'Of two concurrent requests with the same expected_head_sha, exactly one succeeds.',
    alone: true,
    check: on(twoCommits, async (t, { name, tip }) => {
      const racers = ['a', 'b'].map((racer) =>
        sendPack(t, name, packLines(t, { [`${racer}.txt`]: racer }, { expected_head_sha: tip })),
      );
      const statuses = (await Promise.all(racers)).map(({ status }) => status).sort();
      expectSame(statuses, [201, 409], 'one of two concurrent writes must succeed and the other must conflict');
    }),
  },
  {
    id: 'pack.empty-repo.seed',
    says: 'The default branch of an empty repository can be created without expected_head_sha.',
    check: async (t) => {
      const name = t.uniqueName();
      await createNamedRepository(t, name);
      t.observe('another branch', await sendPack(t, name, packLines(t, { 'x.txt': 'x' }, { target_branch: 'side' })));
      const { sha } = await commitFiles(t, name, { 'first.txt': 'first' });
      expectSame(await mustTipOf(t, name), sha, 'the branch must point to the written commit');
    },
  },
  {
    id: 'pack.base_branch.creates',
    says: 'base_branch is the branch from which a new target_branch is created.',
    check: on(twoCommits, async (t, { name, tip }) => {
      const branch = newBranch(t);
      const from = { target_branch: branch, base_branch: t.defaultBranch };
      const { sha } = await commitFiles(t, name, { 'on-branch.txt': 'x' }, from);
      expectSame(await mustTipOf(t, name, branch), sha, 'the branch must point to the written commit');
      expectSame(await parentsOf(t, name, branch), [tip], 'the parent must be the tip of the base branch');
      const files = (await fileMetadata(t, name, { ref: branch })).records('files').map(({ path }) => path);
      expectTrue(
        files.includes('older.txt') && files.includes('on-branch.txt'),
        'the new branch must have the files of the base',
        files,
      );
    }),
  },
  {
    id: 'pack.base_branch.target-exists',
    says: 'base_branch has no effect if target_branch exists.',
    level: 'SHOULD',
    check: on(twoCommits, async (t, { name }) => {
      const branch = newBranch(t);
      const { sha } = await commitFiles(
        t,
        name,
        { 'one.txt': '1' },
        { target_branch: branch, base_branch: t.defaultBranch },
      );
      const again = await commitFiles(
        t,
        name,
        { 'two.txt': '2' },
        { target_branch: branch, base_branch: t.defaultBranch },
      );
      expectStatus(again.answer, 201);
      expectSame(again.before, sha, 'old_sha must be the tip of the target branch');
      expectSame(await parentsOf(t, name, branch), [sha], 'the parent must be the tip of the target branch');
    }),
  },
  {
    id: 'pack.base_branch.latest',
    says: 'Without expected_head_sha, a new branch starts at the latest commit of base_branch.',
    check: on(twoCommits, async (t, { name, tip }) => {
      const branch = newBranch(t);
      await commitFiles(t, name, { 'x.txt': 'x' }, { target_branch: branch, base_branch: t.defaultBranch });
      expectSame(await parentsOf(t, name, branch), [tip], 'the parent must be the newest commit of the base branch');
    }),
  },
  {
    id: 'pack.base_branch.expected.match',
    says: 'For a new branch, an expected_head_sha that equals the tip of base_branch succeeds.',
    check: on(twoCommits, (t, { name, tip }) => {
      const metadata = { target_branch: newBranch(t), base_branch: t.defaultBranch, expected_head_sha: tip };
      return commitFiles(t, name, { 'x.txt': 'x' }, metadata);
    }),
  },
  {
    id: 'pack.base_branch.expected.mismatch',
    says: 'For a new branch, an expected_head_sha that differs from the tip of base_branch is 409; no branch is created.',
    check: on(twoCommits, async (t, { name, older }) => {
      const branch = newBranch(t);
      const metadata = { target_branch: branch, base_branch: t.defaultBranch, expected_head_sha: older };
      expectStatus(await sendPack(t, name, packLines(t, { 'x.txt': 'x' }, metadata)), 409);
      expectAbsent(await tipOf(t, name, branch), 'the branch must not be created');
    }),
  },
  {
    id: 'pack.base_branch.missing',
    says: 'A base_branch that does not exist is 404.',
    check: on(groupRepository, async (t, { name }) => {
      const branch = newBranch(t);
      const lines = packLines(t, { 'x.txt': 'x' }, { target_branch: branch, base_branch: 'nope' });
      const response = await sendPack(t, name, lines);
      t.tolerate('A28', 'missing base branch', response, [
        '404 branch_not_found',
        '404 ref_not_found',
        '404 not_found',
      ]);
      expectAbsent(await tipOf(t, name, branch), 'the branch must not be created');
    }),
  },
  {
    id: 'pack.ephemeral.true',
    says: 'ephemeral true writes an ephemeral branch, which only reads with ephemeral=true find.',
    check: on(groupRepository, async (t, { name }) => {
      const branch = newBranch(t);
      await commitFiles(
        t,
        name,
        { 'e.txt': 'e' },
        { target_branch: branch, base_branch: t.defaultBranch, ephemeral: true },
      );
      expectStatus(await fileMetadata(t, name, { ref: branch, ephemeral: 'true' }), 200);
      expectStatus(await fileMetadata(t, name, { ref: branch }), 404);
      const odd = packLines(
        t,
        { 'e.txt': 'e' },
        { target_branch: newBranch(t), base_branch: t.defaultBranch, ephemeral: 'yes' },
      );
      t.observe('ephemeral "yes"', await sendPack(t, name, odd));
    }),
  },
  {
    id: 'pack.ephemeral.isolated',
    says: 'Writing an ephemeral branch does not change the ordinary branch of the same name.',
    check: on(twoCommits, async (t, { name, tip }) => {
      await commitFiles(t, name, { 'iso.txt': 'x' }, { base_branch: t.defaultBranch, ephemeral: true });
      expectSame(await mustTipOf(t, name), tip, 'the tip of the default branch must not change');
    }),
  },
  {
    id: 'pack.ephemeral_base.true',
    says: 'ephemeral_base true looks up base_branch among the ephemeral branches.',
    check: on(groupRepository, async (t, { name }) => {
      const base = newBranch(t);
      await commitFiles(
        t,
        name,
        { 'b.txt': 'b' },
        { target_branch: base, base_branch: t.defaultBranch, ephemeral: true },
      );
      const from = { base_branch: base };
      await commitFiles(t, name, { 'c.txt': 'c' }, { target_branch: newBranch(t), ...from, ephemeral_base: true });
      expectStatus(
        await sendPack(t, name, packLines(t, { 'c.txt': 'c' }, { target_branch: newBranch(t), ...from })),
        404,
      );
    }),
  },
  {
    id: 'pack.atomic',
    says: 'A stream that fails does not change the branch.',
    level: 'SHOULD',
    check: on(groupRepository, async (t, { name }) => {
      const tip = await mustTipOf(t, name);
      const branch = newBranch(t);
      const lines = packLines(
        t,
        { 'good.txt': 'x', 'bad.txt': 'x' },
        { target_branch: branch, base_branch: t.defaultBranch },
      );
      expectStatus(await sendPack(t, name, lines.slice(0, -1)), 400);
      expectSame(await mustTipOf(t, name), tip, 'the tip of the default branch must not change');
      expectAbsent(await tipOf(t, name, branch), 'the branch must not be created');
    }),
  },
  ...tokenRules('pack', {
    noHeader: 'pack.err.401.no-header',
    invalid: 'pack.err.401.invalid-jwt',
    scope: 'pack.err.scope',
    missingRepo: 'pack.err.404.repo',
  }),
  {
    id: 'pack.err.body',
    says: 'A failed commit may answer with a write result.',
    level: 'MAY',
    check: on(twoCommits, async (t, { name, older }) => {
      const response = await sendPack(t, name, packLines(t, { 'x.txt': 'x' }, { expected_head_sha: older }));
      expectFailureBody(t, 'failed commit-pack', response, 'problem');
    }),
  },
]);

import { commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import {
  ABSENT_SHA,
  fileMetadata,
  getFile,
  mustTipOf,
  reader,
  tipOf,
  withOtherEnd,
  ZEROS,
} from '../../api/requests.js';
import { expectAbsent, expectRefused, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createNamedRepository, groupRepository } from '../../fixtures/repositories.js';
import { clone } from '../../git/git-client.js';
import { listRefs } from '../../git/refs.js';
import { defineWritingRules, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';
import { expectFailureBody } from '../write-failure.js';

/** Adds two commits to the group's shared repository. The older commit can then be used as an outdated branch tip. */
async function twoCommits(t: RuleContext) {
  const { name } = await groupRepository(t);
  const older = await commitFiles(t, name, { 'older.txt': t.uniqueName() });
  const newer = await commitFiles(t, name, { 'newer.txt': t.uniqueName() });
  return { name, older: older.sha, tip: newer.sha };
}

/**
 * Adds a branch and an ephemeral branch with the same name to the repository of `twoCommits`. Each has its own commit
 * on top of the default branch.
 */
async function sideBranch(t: RuleContext) {
  const commits = await twoCommits(t);
  const side = t.uniqueRef('branch');
  const from = { target_branch: side, base_branch: t.defaultBranch };
  const ordinary = await commitFiles(t, commits.name, { 'side.txt': 'ordinary' }, from);
  const ephemeral = await commitFiles(t, commits.name, { 'side.txt': 'ephemeral' }, { ...from, ephemeral: true });
  return { ...commits, side, sideTip: ordinary.sha, ephemeralTip: ephemeral.sha };
}

async function parentsOf(t: RuleContext, repo: string, branch: string): Promise<readonly string[]> {
  const { git, tip } = await clone(t, repo, branch);
  return git.parents(tip);
}

export const packBranches = defineWritingRules('5. Commit pack', 'pack-branches', [
  {
    id: 'pack.expected_head.match',
    says: 'A request whose expected_head_sha equals the tip succeeds.',
    clauses: {
      'other-branch': 'On a branch other than the default branch, the tip of the written branch is meant.',
      ephemeral: 'On an ephemeral branch, the tip is not that of the ordinary branch with the same name.',
    },
    check: on(sideBranch, async (t, { name, tip, side, sideTip, ephemeralTip }) => {
      await commitFiles(t, name, { 'match.txt': t.uniqueName() }, { expected_head_sha: tip });
      const onSide = { target_branch: side, expected_head_sha: sideTip };
      await commitFiles(t, name, { 'match.txt': t.uniqueName() }, onSide);
      const onEphemeral = { target_branch: side, ephemeral: true, expected_head_sha: ephemeralTip };
      await commitFiles(t, name, { 'match.txt': t.uniqueName() }, onEphemeral);
    }),
  },
  {
    id: 'pack.expected_head.mismatch',
    says: 'An expected_head_sha that differs from the tip is refused with 409; the branch does not move.',
    clauses: {
      stale: 'An earlier tip of the branch is refused.',
      unknown: 'An SHA that no commit has is refused.',
      'tip-of-another-branch': 'The tip of another branch is refused.',
      zeros: '40 zeros are refused if the branch exists.',
      shortened: 'The first digits of an earlier tip are refused.',
      'last-digit': 'An SHA that differs from the tip only in its last digit is refused.',
      'other-branch': 'On a branch other than the default branch, the tip of the default branch is refused.',
      'base-given': 'If the branch exists, the tip of base_branch is refused.',
      ephemeral: 'On an ephemeral branch, the tip of the ordinary branch with the same name is refused.',
      'empty-repository': 'In an empty repository, which has no tip, every SHA of a commit is refused.',
    },
    check: on(sideBranch, async (t, { name, older, tip, side, sideTip, ephemeralTip }) => {
      const expecting = (sha: string, more: object = {}) =>
        sendPack(t, name, packLines(t, { 'x.txt': 'x' }, { expected_head_sha: sha, ...more }));
      for (const sha of [older, ABSENT_SHA, sideTip, withOtherEnd(tip)]) expectStatus(await expecting(sha), 409);
      expectRefused(await expecting(older.slice(0, 12)));
      const zeros = await expecting(ZEROS);
      expectRefused(zeros);
      t.observe('zeros', zeros);
      expectSame(await mustTipOf(t, name), tip, 'the branch tip must not change');
      expectStatus(await expecting(tip, { target_branch: side }), 409);
      expectStatus(await expecting(tip, { target_branch: side, base_branch: t.defaultBranch }), 409);
      expectSame(await mustTipOf(t, name, side), sideTip, 'the tip of the other branch must not change');
      expectStatus(await expecting(sideTip, { target_branch: side, ephemeral: true }), 409);
      const onEphemeral = { target_branch: side, ephemeral: true, expected_head_sha: ephemeralTip };
      const { before } = await commitFiles(t, name, { 'x.txt': 'x' }, onEphemeral);
      expectSame(before, ephemeralTip, 'the tip of the ephemeral branch must not change');
      const empty = t.uniqueName();
      await createNamedRepository(t, empty);
      expectRefused(await sendPack(t, empty, packLines(t, { 'x.txt': 'x' }, { expected_head_sha: tip })));
      expectAbsent(await tipOf(t, empty), 'the branch must not be created');
      t.observe('malformed', await expecting('xyz'));
      t.observe('shortened tip', await expecting(tip.slice(0, 12)));
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
    clauses: { 'no-loss': 'Of concurrent requests without expected_head_sha, no accepted commit is lost.' },
    alone: true,
    check: on(twoCommits, async (t, { name, tip }) => {
      const race = (metadata: object) =>
        Promise.all(
          ['a', 'b'].map((racer) => {
            const path = `${racer}-${t.uniqueName().replaceAll('/', '-')}.txt`;
            return sendPack(t, name, packLines(t, { [path]: racer }, metadata));
          }),
        );
      const statuses = (await race({ expected_head_sha: tip })).map(({ status }) => status).sort();
      expectSame(statuses, [201, 409], 'one of two concurrent writes must succeed and the other must conflict');
      const written = (await race({})).filter(({ status }) => status === 201);
      const { git, tip: last } = await clone(t, name);
      const history = [last, ...(await git.parents(last))];
      for (const response of written) {
        const sha = response.string('commit', 'commit_sha');
        expectTrue(history.includes(sha), `the accepted commit ${sha} must be in the history of the branch`, history);
      }
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
    clauses: {
      'other-base': 'A base_branch other than the default branch is used as well.',
      'base-stays': 'The base branch itself does not move.',
    },
    check: on(sideBranch, async (t, { name, tip, side, sideTip }) => {
      for (const [base, baseTip] of Object.entries({ [t.defaultBranch]: tip, [side]: sideTip })) {
        const branch = t.uniqueRef('branch');
        const from = { target_branch: branch, base_branch: base };
        const { sha } = await commitFiles(t, name, { 'on-branch.txt': 'x' }, from);
        expectSame(await mustTipOf(t, name, branch), sha, 'the branch must point to the written commit');
        expectSame(await mustTipOf(t, name, base), baseTip, 'the base branch must not move');
        expectSame(await parentsOf(t, name, branch), [baseTip], 'the parent must be the tip of the base branch');
        const files = (await fileMetadata(t, name, { ref: branch })).records('files').map(({ path }) => path);
        for (const path of ['older.txt', 'on-branch.txt', ...(base === side ? ['side.txt'] : [])]) {
          expectTrue(files.includes(path), `the new branch must have the file ${path}`, files);
        }
      }
    }),
  },
  {
    id: 'pack.base_branch.target-exists',
    says: 'base_branch has no effect if target_branch exists.',
    level: 'SHOULD',
    check: on(twoCommits, async (t, { name }) => {
      const branch = t.uniqueRef('branch');
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
      expectStatus(again.response, 201);
      expectSame(again.before, sha, 'old_sha must be the tip of the target branch');
      expectSame(await parentsOf(t, name, branch), [sha], 'the parent must be the tip of the target branch');
    }),
  },
  {
    id: 'pack.base_branch.latest',
    says: 'Without expected_head_sha, a new branch starts at the latest commit of base_branch.',
    check: on(twoCommits, async (t, { name, tip }) => {
      const branch = t.uniqueRef('branch');
      await commitFiles(t, name, { 'x.txt': 'x' }, { target_branch: branch, base_branch: t.defaultBranch });
      expectSame(await parentsOf(t, name, branch), [tip], 'the parent must be the newest commit of the base branch');
    }),
  },
  {
    id: 'pack.base_branch.expected.match',
    says: 'For a new branch, an expected_head_sha that equals the tip of base_branch succeeds.',
    clauses: {
      'other-base': 'The tip of a base_branch other than the default branch is meant.',
      'ephemeral-base': 'With ephemeral_base true, the tip of the ephemeral base_branch is meant.',
    },
    check: on(sideBranch, async (t, { name, tip, side, sideTip, ephemeralTip }) => {
      for (const [base, sha] of Object.entries({ [t.defaultBranch]: tip, [side]: sideTip })) {
        const metadata = { target_branch: t.uniqueRef('branch'), base_branch: base, expected_head_sha: sha };
        await commitFiles(t, name, { 'x.txt': 'x' }, metadata);
      }
      const onEphemeral = { base_branch: side, ephemeral_base: true, expected_head_sha: ephemeralTip };
      await commitFiles(t, name, { 'x.txt': 'x' }, { target_branch: t.uniqueRef('branch'), ...onEphemeral });
    }),
  },
  {
    id: 'pack.base_branch.expected.mismatch',
    says: 'For a new branch, an expected_head_sha that differs from the tip of base_branch is refused with 409; no branch is created.',
    clauses: {
      unknown: 'An SHA that no commit has is refused.',
      'other-base': 'For a base_branch other than the default branch, the tip of the default branch is refused.',
      'ephemeral-base': 'With ephemeral_base true, the tip of the ordinary branch with the same name is refused.',
    },
    check: on(sideBranch, async (t, { name, older, tip, side, sideTip }) => {
      const branch = t.uniqueRef('branch');
      const expecting = (sha: string, base = t.defaultBranch, ephemeral_base?: boolean) => {
        const metadata = { target_branch: branch, base_branch: base, ephemeral_base, expected_head_sha: sha };
        return sendPack(t, name, packLines(t, { 'x.txt': 'x' }, metadata));
      };
      for (const sha of [older, ABSENT_SHA]) expectStatus(await expecting(sha), 409);
      expectStatus(await expecting(tip, side), 409);
      expectStatus(await expecting(sideTip, side, true), 409);
      expectAbsent(await tipOf(t, name, branch), 'the branch must not be created');
    }),
  },
  {
    id: 'pack.base_branch.missing',
    says: 'A base_branch that does not exist is refused with 404.',
    check: on(groupRepository, async (t, { name }) => {
      const branch = t.uniqueRef('branch');
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
    clauses: {
      'ordinary-base': 'ephemeral true does not look up base_branch among the ephemeral branches.',
      git: 'Git does not list the ephemeral branch as an ordinary branch.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const branch = t.uniqueRef('branch');
      await commitFiles(
        t,
        name,
        { 'e.txt': 'e' },
        { target_branch: branch, base_branch: t.defaultBranch, ephemeral: true },
      );
      expectStatus(await fileMetadata(t, name, { ref: branch, ephemeral: 'true' }), 200);
      expectStatus(await fileMetadata(t, name, { ref: branch }), 404);
      // The specification does not say whether Git lists the ephemeral branch under another name.
      const listed = (await listRefs(t, name, reader(name))).get(`refs/heads/${branch}`);
      expectAbsent(listed, `Git must not list refs/heads/${branch}`);
      const odd = packLines(
        t,
        { 'e.txt': 'e' },
        { target_branch: t.uniqueRef('branch'), base_branch: t.defaultBranch, ephemeral: 'yes' },
      );
      t.observe('ephemeral "yes"', await sendPack(t, name, odd));
    }),
  },
  {
    id: 'pack.ephemeral.isolated',
    says: 'Writing an ephemeral branch does not change the ordinary branch of the same name.',
    clauses: {
      converse: 'Writing the ordinary branch does not change the ephemeral branch of the same name.',
      git: 'Git lists the ordinary branch, not the ephemeral branch of the same name.',
    },
    check: on(sideBranch, async (t, { name, tip, side, sideTip, ephemeralTip }) => {
      const listed = (await listRefs(t, name, reader(name))).get(`refs/heads/${side}`);
      expectSame(listed, sideTip, `Git must list refs/heads/${side} at the tip of the ordinary branch`);
      await commitFiles(t, name, { 'iso.txt': 'x' }, { base_branch: t.defaultBranch, ephemeral: true });
      expectSame(await mustTipOf(t, name), tip, 'the tip of the default branch must not change');
      await commitFiles(t, name, { 'iso.txt': 'x' }, { target_branch: side });
      const onEphemeral = { target_branch: side, ephemeral: true };
      const { before } = await commitFiles(t, name, { 'iso.txt': 'y' }, onEphemeral);
      expectSame(before, ephemeralTip, 'the tip of the ephemeral branch must not change');
    }),
  },
  {
    id: 'pack.ephemeral_base.true',
    says: 'ephemeral_base true looks up base_branch among the ephemeral branches.',
    clauses: {
      namesake: 'ephemeral_base true finds the ephemeral branch even if an ordinary branch has the same name.',
      'target-unaffected': 'ephemeral_base true does not make target_branch an ephemeral branch.',
      false: 'ephemeral and ephemeral_base false mean ordinary branches, as if they were absent.',
      'no-fallback': 'If only an ordinary branch has the name, the base is missing.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const [base, onlyEphemeral, onlyOrdinary] = [t.uniqueRef('branch'), t.uniqueRef('branch'), t.uniqueRef('branch')];
      const from = { base_branch: t.defaultBranch };
      const both = { target_branch: base, ...from };
      await commitFiles(t, name, { 'which.txt': 'ordinary' }, both);
      await commitFiles(t, name, { 'which.txt': 'ephemeral' }, { ...both, ephemeral: true });
      for (const ephemeral_base of [true, false]) {
        for (const ephemeral of [true, false]) {
          const target_branch = t.uniqueRef('branch');
          const metadata = { target_branch, base_branch: base, ephemeral, ephemeral_base };
          await commitFiles(t, name, { 'c.txt': 'c' }, metadata);
          const read = (from: boolean) =>
            getFile(t, name, { path: 'which.txt', ref: target_branch, ephemeral: String(from) });
          const found = expectStatus(await read(ephemeral), 200);
          expectSame(found.text, ephemeral_base ? 'ephemeral' : 'ordinary', 'the new branch must begin at its base');
          expectStatus(await read(!ephemeral), 404, 400);
        }
      }
      await commitFiles(t, name, { 'b.txt': 'b' }, { target_branch: onlyEphemeral, ...from, ephemeral: true });
      await commitFiles(t, name, { 'b.txt': 'b' }, { target_branch: onlyOrdinary, ...from });
      for (const base_branch of [onlyEphemeral, onlyOrdinary]) {
        const metadata = {
          target_branch: t.uniqueRef('branch'),
          base_branch,
          ephemeral_base: base_branch === onlyOrdinary,
        };
        expectStatus(await sendPack(t, name, packLines(t, { 'c.txt': 'c' }, metadata)), 404);
      }
    }),
  },
  {
    id: 'pack.atomic',
    says: 'A stream that fails does not change the branch.',
    level: 'SHOULD',
    check: on(groupRepository, async (t, { name }) => {
      const tip = await mustTipOf(t, name);
      const branch = t.uniqueRef('branch');
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

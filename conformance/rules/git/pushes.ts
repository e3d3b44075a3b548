import { randomBytes } from 'node:crypto';
import { commitFiles } from '../../api/commit-pack.js';
import { ABSENT_SHA, getCommit, getFile, mustTipOf, reader, tipOf, writer, ZEROS } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectAbsent, expectOneOf, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createNamedRepository, groupRepository } from '../../fixtures/repositories.js';
import { withEachGitClient } from '../../git/each-git-client.js';
import { clone, commitLocally, createGit } from '../../git/git-client.js';
import { advertise, listRefs, pushUpdates, type RefUpdate, readReport } from '../../git/refs.js';
import { withDelta } from '../../git/thin-pack.js';
import { gitPath } from '../../http/git-remote.js';
import { defineWritingRules, on } from '../rule.js';

/** Size in bytes of a file that stock Git pushes in chunks, with the suite's configuration. */
const LARGE_FILE = 110_000;

interface PushedCommit {
  readonly sha: string;
  /** Pack that contains the commit, its tree and its file. */
  readonly pack: Buffer;
}

/** Creates a local commit with one file on top of a commit of the target. Also returns a pack to push it with. */
async function newCommit(t: RuleContext, parent: string, text = t.uniqueName()): Promise<PushedCommit> {
  const git = await createGit(t);
  const sha = await commitLocally(git, { parent: [parent], branch: 'local', text });
  const { tree } = await git.commit(sha);
  const files = Object.values(await git.listTree(sha)).map((entry) => entry.replace(/^\d+ /, ''));
  return { sha, pack: await git.pack([sha, tree, ...files]) };
}

/**
 * Returns a new commit in a pack that Git clients call thin: it has a file of the commit only as a delta against `base`,
 * a file of the target. The file of the commit is `base` followed by `added`.
 */
async function newThinCommit(t: RuleContext, parent: string, base: string, added: string): Promise<PushedCommit> {
  const git = await createGit(t);
  const sha = await commitLocally(git, { parent: [parent], branch: 'local', text: base + added });
  const { tree } = await git.commit(sha);
  return { sha, pack: withDelta(await git.pack([sha, tree]), Buffer.from(base), Buffer.from(added)) };
}

/** Expects the push to report each of the refs as updated. */
function expectReported(response: ApiResponse, updates: readonly RefUpdate[]): void {
  const report = Object.fromEntries(readReport(response));
  const expected = Object.fromEntries(updates.map(({ ref }) => [ref, 'ok']));
  expectSame(report, expected, `the push must succeed (${response.outcome})`);
}

/** Expects Git to list the refs of the map with these object ids. A ref whose value is undefined must not be listed. */
async function expectRefs(t: RuleContext, repo: string, expected: Record<string, string | undefined>): Promise<void> {
  const refs = await listRefs(t, repo, reader(repo));
  for (const [ref, sha] of Object.entries(expected)) {
    if (sha === undefined) expectAbsent(refs.get(ref), `Git must not list ${ref}`);
    else expectSame(refs.get(ref), sha, `Git must list ${ref} with the right object`);
  }
}

export const gitPushes = defineWritingRules('Git over HTTPS', 'git-pushes', [
  {
    id: 'git.push',
    says: 'A branch pushed with git:write is visible to the API.',
    clauses: {
      dot: 'A repository whose name contains dots, such as docs.git.example, can be cloned and pushed to.',
      thin: 'A push of a thin pack works, which Git sends unless the server has the capability no-thin (gitprotocol-capabilities).',
    },
    check: on(groupRepository, async (t, { name }) => {
      const dotted = `${t.uniqueName()}.git.example`;
      await createNamedRepository(t, dotted);
      await commitFiles(t, dotted, { 'dots.txt': 'x' });
      await withEachGitClient(t, async (git) => {
        for (const repo of [name, dotted]) {
          const tip = await git.fetch(repo);
          const branch = t.uniqueRef('branch');
          const sha = await commitLocally(git, { parent: [tip], branch, text: randomBytes(LARGE_FILE) });
          expectAbsent(await git.push(repo, [branch]), `the push to ${repo} with ${git.name} must succeed`);
          expectSame(await mustTipOf(t, repo, branch), sha, 'the API must list the pushed branch');
        }
      });
      const offered = await advertise(t, gitPath(name), writer(name), 'git-receive-pack');
      const takesThin = !/\bno-thin\b/.test(offered.text);
      t.observe('thin packs', takesThin ? 'accepted' : 'refused by the capability no-thin');
      if (!takesThin) return;
      const base = `base ${t.uniqueName()}\n`;
      const { sha: parent } = await commitFiles(t, name, { 'base.txt': base });
      const thin = await newThinCommit(t, parent, base, 'added\n');
      const updates = [{ ref: `refs/heads/${t.uniqueRef()}`, old: ZEROS, next: thin.sha }];
      expectReported(await pushUpdates(t, name, updates, writer(name), { pack: thin.pack }), updates);
      const file = expectStatus(await getFile(t, name, { path: 'pushed.txt', ref: thin.sha }), 200);
      expectSame(file.text, `${base}added\n`, 'the API must read the file that was pushed as a delta');
    }),
  },
  {
    id: 'git.push.several',
    says: 'A push of several refs updates each of them.',
    clauses: {
      first: 'The first ref of the push is updated.',
      last: 'The last ref of the push is updated.',
      tag: 'A tag that is pushed together with branches is created.',
      slash: 'The names of a branch and of a tag may contain a slash, and a fetch gets both.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const tip = await mustTipOf(t, name);
      const { sha, pack } = await newCommit(t, tip);
      const [one, two, tag] = [`topic/${t.uniqueRef()}`, t.uniqueRef(), `release/${t.uniqueRef()}`];
      const updates = [
        { ref: `refs/heads/${one}`, old: ZEROS, next: sha },
        { ref: `refs/heads/${t.defaultBranch}`, old: tip, next: sha },
        { ref: `refs/tags/${tag}`, old: ZEROS, next: tip },
        { ref: `refs/heads/${two}`, old: ZEROS, next: tip },
      ];
      expectReported(await pushUpdates(t, name, updates, writer(name), { pack }), updates);
      await expectRefs(t, name, Object.fromEntries(updates.map(({ ref, next }) => [ref, next])));
      for (const [revision, expected] of [
        [one, sha],
        [two, tip],
        [tag, tip],
        [t.defaultBranch, sha],
      ] as const) {
        expectSame(await mustTipOf(t, name, revision), expected, 'the API must resolve each pushed ref');
      }
      for (const [ref, expected] of [
        [one, sha],
        [tag, tip],
      ] as const) {
        expectSame((await clone(t, name, ref)).tip, expected, `a fetch of ${ref} must get its commit`);
      }
    }),
  },
  {
    id: 'git.push.chunked',
    says: 'A push whose request body is sent in chunks works, because Git sends bodies above 1 MiB in chunks.',
    check: on(groupRepository, async (t, { name, tip }) => {
      const { sha, pack } = await newCommit(t, tip);
      const updates = [{ ref: `refs/heads/${t.uniqueRef()}`, old: ZEROS, next: sha }];
      expectReported(await pushUpdates(t, name, updates, writer(name), { pack, chunked: true }), updates);
      expectSame((await getCommit(t, name, sha)).status, 200, 'the API must return the pushed commit');
    }),
  },
  {
    id: 'git.push.stale',
    says: 'A push of a ref that has moved meanwhile is refused, so that no commit is lost (gitprotocol-pack).',
    level: 'SHOULD',
    clauses: {
      created: 'A push that creates a ref which exists meanwhile is refused.',
      report: 'Each ref of a partly refused push has the state that the report says.',
    },
    check: on(groupRepository, async (t, { name, tip }) => {
      const { sha, pack } = await newCommit(t, tip);
      const [moved, free] = [`refs/heads/${t.uniqueRef()}`, `refs/heads/${t.uniqueRef()}`];
      const first = [{ ref: moved, old: ZEROS, next: sha }];
      expectReported(await pushUpdates(t, name, first, writer(name), { pack }), first);
      const later = await newCommit(t, tip);
      for (const old of [tip, ZEROS]) {
        const updates = [
          { ref: moved, old, next: later.sha },
          { ref: free, old: ZEROS, next: tip },
        ];
        const response = await pushUpdates(t, name, updates, writer(name), { pack: later.pack });
        const report = readReport(response);
        expectTrue(report.get(moved) !== 'ok', 'the ref that has moved must be refused', response.outcome);
        const isFree = report.get(free) === 'ok';
        t.observe('the other ref of the push', isFree ? 'updated' : 'refused');
        await expectRefs(t, name, { [moved]: sha, [free]: isFree ? tip : undefined });
        const removal = [{ ref: free, old: tip, next: ZEROS }];
        if (isFree) expectReported(await pushUpdates(t, name, removal, writer(name)), removal);
      }
    }),
  },
  {
    id: 'git.push.incomplete',
    says: 'A push is refused if its commit is neither in the pack nor in the repository (git-receive-pack).',
    level: 'SHOULD',
    clauses: { parent: 'A push of a commit whose parent is missing is refused.' },
    check: on(groupRepository, async (t, { name }) => {
      const orphan = await newCommit(t, ABSENT_SHA);
      for (const [next, pack] of [
        [ABSENT_SHA, undefined],
        [orphan.sha, orphan.pack],
      ] as const) {
        const ref = `refs/heads/${t.uniqueRef()}`;
        const given = pack === undefined ? {} : { pack };
        const response = await pushUpdates(t, name, [{ ref, old: ZEROS, next }], writer(name), given);
        expectTrue(readReport(response).get(ref) !== 'ok', 'the push must be refused', response.outcome);
        await expectRefs(t, name, { [ref]: undefined });
      }
    }),
  },
  {
    id: 'git.push.delete',
    says: 'A branch or tag that a push deletes is gone for Git and for the API, and other refs stay.',
    level: 'SHOULD',
    clauses: {
      branch: 'A push deletes a branch.',
      tag: 'A push with git:read and git:write deletes a tag.',
      api: 'The API no longer resolves a deleted branch or tag.',
      'api-read-before': 'This is also true if the API resolved the branch or tag before.',
      others: 'Other refs at the same commit stay.',
    },
    check: on(groupRepository, async (t, { name, tip }) => {
      const [branch, kept, tag] = [t.uniqueRef(), t.uniqueRef(), t.uniqueRef()];
      const [heads, keeps, tags] = [`refs/heads/${branch}`, `refs/heads/${kept}`, `refs/tags/${tag}`];
      const made = [heads, keeps, tags].map((ref) => ({ ref, old: ZEROS, next: tip }));
      expectReported(await pushUpdates(t, name, made, writer(name)), made);
      for (const short of [branch, tag]) expectSame(await tipOf(t, name, short), tip, `${short} must resolve`);
      const both = { repo: name, scopes: ['git:read', 'git:write'] };
      for (const [ref, as] of [
        [heads, writer(name)],
        [tags, both],
      ] as const) {
        const deletion = [{ ref, old: tip, next: ZEROS }];
        expectReported(await pushUpdates(t, name, deletion, as), deletion);
      }
      await expectRefs(t, name, { [heads]: undefined, [tags]: undefined, [keeps]: tip });
      for (const gone of [branch, tag]) {
        await t.eventually(async () => (await tipOf(t, name, gone)) === undefined, `${gone} must not resolve`);
      }
      expectOneOf(await tipOf(t, name, kept), [tip], 'the API must still resolve the other branch');
    }),
  },
]);

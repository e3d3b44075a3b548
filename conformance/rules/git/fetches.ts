import { reader } from '../../api/requests.js';
import { expectAbsent, expectOther, expectSame, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { type HistoryRepository, historyRepository, type KnownCommit } from '../../fixtures/history.js';
import { emptyRepository, otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { withEachGitClient } from '../../git/each-git-client.js';
import { type PackRequest, type ProtocolVersion, readPack, requestPack } from '../../git/fetch-pack.js';
import { createGit, type Git, type GitClient } from '../../git/git-client.js';
import { advertise, listRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { defineRules, on } from '../rule.js';

/**
 * Returns the versions of the Git protocol in which the target serves fetches. A target without version 2 answers a
 * version 2 request in version 0.
 */
async function servedVersions(t: RuleContext, repo: string): Promise<readonly ProtocolVersion[]> {
  const headers = { 'git-protocol': 'version=2' };
  const response = await advertise(t, gitPath(repo), reader(repo), 'git-upload-pack', { headers });
  const hasVersion2 = /version 2\n/.test(response.text);
  t.observe('Git protocol version 2', hasVersion2 ? 'supported' : 'not supported');
  return hasVersion2 ? [0, 1, 2] : [0, 1];
}

/** Fetches a pack and stores its objects in the local repository. Returns the object ids. */
async function fetchPack(t: RuleContext, git: Git, repo: string, request: PackRequest): Promise<readonly string[]> {
  return git.store(readPack(await requestPack(t, repo, request, reader(repo)), request.version));
}

/**
 * Expects the local repository to have the commit with exactly these files. Their bytes must be those that the suite
 * pushed.
 */
async function expectFiles(git: GitClient, { sha }: KnownCommit, files: HistoryRepository['files']): Promise<void> {
  expectSame(Object.keys(await git.listTree(sha)).sort(), Object.keys(files).sort(), 'the commit must have every file');
  for (const [path, bytes] of Object.entries(files)) {
    expectTrue((await git.readFile(sha, path)).equals(bytes), `${path} must have the pushed bytes`);
  }
}

export const gitFetches = defineRules('Git over HTTPS', 'git-fetches', [
  {
    id: 'git.clone.complete',
    says: 'A clone has every commit of the history, and the bytes of every file.',
    clauses: {
      history: 'The clone has every ancestor of the tip.',
      bytes: 'Each file has the bytes that were pushed.',
      empty: 'A repository without commits has an empty list of refs.',
    },
    check: on(historyRepository, async (t, { name, files, first, second, third }) => {
      const { name: empty } = await emptyRepository(t);
      const refs = [...(await listRefs(t, empty, reader(empty))).keys()];
      expectSame(refs, [], 'an empty repository must have an empty list of refs');
      await withEachGitClient(t, async (git) => {
        await git.fetch(name);
        for (const [commit, parents] of [
          [third, [second.sha]],
          [second, [first.sha]],
          [first, []],
        ] as const) {
          expectSame(await git.parents(commit.sha), parents, 'each commit of the clone must have its parents');
        }
        await expectFiles(git, third, files);
      });
    }),
  },
  {
    id: 'git.remote.repository',
    says: 'The path of a Git remote selects the repository: clones of two repositories have different content.',
    writes: 'where-allowed',
    check: on(otherRepository, async (t, other) => {
      for (const [name, own] of [
        [(await sampleRepository(t)).name, 'sample'],
        [other.name, 'other'],
      ] as const) {
        await withEachGitClient(t, async (git) => {
          const text = (await git.readFile(await git.fetch(name), 'shared.txt')).toString();
          expectSame(text, `bytes of the ${own}\n`, 'the clone must have the files of the repository in its path');
        });
      }
    }),
  },
  {
    id: 'git.fetch.branch',
    says: 'A fetch of a branch other than the default branch gets the commits and files of that branch.',
    check: on(historyRepository, (t, { name, feature, second, files }) =>
      withEachGitClient(t, async (git) => {
        const tip = await git.fetch(name, 'feature');
        expectSame(tip, feature.sha, 'the fetch must get the tip of the branch');
        expectSame(await git.parents(tip), [second.sha], 'the fetch must get the parent of the tip');
        expectSame((await git.readFile(tip, 'feature.txt')).toString(), 'feature\n', 'the fetch must get the file');
        const paths = [...Object.keys(files), 'feature.txt'].sort();
        expectSame(Object.keys(await git.listTree(tip)).sort(), paths, 'the fetch must get every file of the branch');
      }),
    ),
  },
  {
    id: 'git.tags',
    says: 'Git lists pushed tags and can fetch them.',
    clauses: {
      lightweight: 'A lightweight tag is listed with the commit that it points to.',
      annotated: 'An annotated tag is listed with its tag object, which a fetch gets together with the commit.',
    },
    check: on(historyRepository, async (t, { name, first, second }) => {
      const refs = await listRefs(t, name, reader(name));
      expectSame(refs.get('refs/tags/v1'), first.sha, 'a lightweight tag must be listed with its commit');
      const tag = refs.get('refs/tags/v2') ?? '';
      expectOther(tag, second.sha, 'an annotated tag must be listed with its tag object');
      const git = await createGit(t);
      await fetchPack(t, git, name, { version: 0, wants: [tag] });
      expectSame(await git.tagTarget(tag), second.sha, 'the tag must point to its commit');
      expectSame(await git.parents(second.sha), [first.sha], 'the fetch of a tag must get its commit');
    }),
  },
  {
    id: 'git.tags.peeled',
    says: 'A ref advertisement lists, after an annotated tag, the commit that it points to (gitprotocol-pack).',
    level: 'SHOULD',
    check: on(historyRepository, async (t, { name, second }) => {
      const refs = await listRefs(t, name, reader(name));
      expectSame(refs.get('refs/tags/v2^{}'), second.sha, 'the annotated tag must be followed by its commit');
      expectAbsent(refs.get('refs/tags/v1^{}'), 'a lightweight tag must not be followed by another line');
    }),
  },
  {
    id: 'git.fetch.versions',
    says: 'A fetch works in protocol versions 0 and 1, and in version 2 if the target offers it.',
    clauses: {
      'version-0': 'A fetch works in protocol version 0.',
      'version-1': 'A fetch works in protocol version 1.',
      'version-2': 'A fetch works in protocol version 2 if the target offers it.',
      'incremental-0': 'A fetch with have lines completes the history of the client in protocol version 0.',
      'incremental-2': 'A fetch with have lines completes the history of the client in protocol version 2.',
    },
    check: on(historyRepository, async (t, { name, files, first, second, third }) => {
      for (const version of await servedVersions(t, name)) {
        const git = await createGit(t);
        const before = await fetchPack(t, git, name, { version, wants: [second.sha] });
        expectSame(await git.parents(second.sha), [first.sha], 'the fetch must get the history');
        const request = { version, wants: [third.sha], haves: [second.sha] };
        const added = await fetchPack(t, git, name, request);
        await expectFiles(git, third, files);
        const again = added.filter((oid) => before.includes(oid)).length;
        t.observe(`objects sent again in version ${version}`, again);
      }
    }),
  },
  {
    id: 'git.fetch.gzip',
    says: 'A fetch whose request body is compressed with gzip works, because Git compresses bodies above 1 KiB.',
    clauses: { 'version-2': 'A compressed request works in protocol version 2 if the target offers it.' },
    check: on(historyRepository, async (t, { name, files, second, third }) => {
      for (const version of (await servedVersions(t, name)).filter((one) => one !== 1)) {
        // Most `have` lines name commits that the server lacks, as from a client with many local commits.
        const own = Array.from({ length: 30 }, (_, index) => (index + 0xabcdef).toString(16).padStart(40, '1'));
        const git = await createGit(t);
        await fetchPack(t, git, name, { version, wants: [second.sha] });
        const haves = [...own, second.sha];
        await fetchPack(t, git, name, { version, wants: [third.sha], haves, gzip: true });
        await expectFiles(git, third, files);
      }
    }),
  },
]);

import { commitFiles } from '../../api/commit-pack.js';
import { getCommit, getFile, grep, mustTipOf, reader, repositoryPath, repoWriter } from '../../api/requests.js';
import {
  expectAbsent,
  expectMatch,
  expectRefused,
  expectSame,
  expectStatus,
  expectSuccess,
  expectTrue,
} from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { groupRepository, newRepository, otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { withEachGitClient } from '../../git/each-git-client.js';
import { clone, commitLocally, createGit } from '../../git/git-client.js';
import { advertise, listRefs, lsRefs, readAdvertisement } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import type { ListedRefs } from '../../http/ls-refs.js';
import { defineRules, defineWritingRules, leftOpen, on } from '../rule.js';
import { expectGitRefused, expectTokenRefused, forEachPlace, ofGit, showsNothing } from '../token-places.js';

/** Number of local commits that makes stock Git send two requests before it finds a commit that the target has. */
const UNPUSHED = 40;

const NOT_FOUND = ['404', '403', '401'];

/** Returns the object ids of the listed branches and tags. The targets of annotated tags are left out. */
function branchesAndTags({ refs }: ListedRefs): Record<string, string> {
  const found = [...refs].filter(([name]) => /^refs\/(heads|tags)\/[^^]*$/.test(name));
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Expects HEAD of a repository to refer to its default branch. Checks each version of the Git protocol that reports
 * HEAD (gitprotocol-capabilities). Also expects the versions to list the same branches and tags.
 */
async function expectHead(t: RuleContext, repo: string, branch: string, tip: string): Promise<void> {
  const target = `refs/heads/${branch}`;
  const advertisement = await advertise(t, gitPath(repo), reader(repo));
  const advertised = readAdvertisement(advertisement);
  expectSame(advertised.refs.get('HEAD'), tip, 'HEAD must be the tip of the default branch');
  const listed = await lsRefs(t, repo, reader(repo));
  if (listed === undefined) t.observe('Git protocol version 2', 'not supported');
  else {
    expectSame(listed.refs.get('HEAD'), tip, 'ls-refs must list HEAD at the tip of the default branch');
    expectSame(listed.head, target, 'ls-refs must list the default branch as the symref target of HEAD');
    const inVersion0 = branchesAndTags(advertised);
    expectSame(branchesAndTags(listed), inVersion0, 'ls-refs must list the branches and tags that version 0 lists');
  }
  const { head } = advertised;
  if (head === undefined) t.observe('symref in the advertisement', 'none');
  else expectSame(head, target, 'the ref advertisement must name the default branch as the symref target of HEAD');
}

/** Changes the default branch of a new repository through the API. Expects Git to report the new branch as HEAD. */
async function changesHead(t: RuleContext): Promise<void> {
  const { name, tip } = await newRepository(t);
  const metadata = { target_branch: 'other', base_branch: t.defaultBranch };
  const { sha } = await commitFiles(t, name, { 'other.txt': 'x' }, metadata);
  await expectHead(t, name, t.defaultBranch, tip);
  const options = { as: repoWriter(name), json: { default_branch: 'other' } };
  expectSuccess(await t.request('PATCH', repositoryPath(name), options));
  await t.eventually(
    async () => (await listRefs(t, name, reader(name))).get('HEAD') === sha,
    'HEAD follows the default branch',
  );
  await expectHead(t, name, 'other', sha);
  expectSame((await clone(t, name, 'HEAD')).tip, sha, 'HEAD of a clone must be the written commit');
}

export const gitReads = defineRules('Git over HTTPS', 'git-reads', [
  {
    id: 'git.remote.form',
    says: 'A clone of /<repo_name>.git with user name t and the token as password gets the default branch.',
    clauses: {
      head: 'HEAD is listed at the tip of the default branch, not at that of another branch.',
      'version-2': 'Protocol version 2, if it is supported, lists the same branches and tags as version 0.',
    },
    check: on(historyRepository, async (t, history) => {
      await withEachGitClient(t, async (git) => {
        const tip = await git.fetch(history.name);
        expectSame(tip, history.third.sha, 'HEAD of the clone must be the tip of the default branch');
        expectSame(
          Object.keys(await git.listTree(tip)).sort(),
          Object.keys(history.files).sort(),
          'the clone must contain every file',
        );
      });
      await expectHead(t, history.name, t.defaultBranch, history.third.sha);
      t.observe('without .git', (await advertise(t, gitPath(history.name).slice(0, -4), reader(history.name))).status);
    }),
  },
  {
    id: 'git.remote.user-t',
    says: 'The user name t is accepted.',
    check: on(sampleContent, async (t, { name }) => {
      const response = expectStatus(await advertise(t, gitPath(name), reader(name)), 200);
      expectTrue(readAdvertisement(response).refs.size > 0, 'the ref advertisement must not be empty');
      const other = await advertise(t, gitPath(name), reader(name), 'git-upload-pack', { user: 'x' });
      t.observe('another user name', other.status);
    }),
  },
  leftOpen(
    'git.remote.slash-name',
    'The specification does not say how a slash in a repository name is written in a Git address.',
    sampleRepository,
    async (t, { name }) => {
      t.observe('/', (await advertise(t, gitPath(name), reader(name))).status);
      t.observe('%2F', (await advertise(t, `/${encodeURIComponent(name)}.git`, reader(name))).status);
    },
  ),
  {
    id: 'git.challenge.401',
    says: 'A Git request without credentials is refused with 401.',
    writes: 'where-allowed',
    check: (t) =>
      forEachPlace(t, ofGit, async ({ askWithout }) => {
        const response = await askWithout();
        showsNothing(response);
        expectStatus(response, 401);
      }),
  },
  {
    id: 'git.challenge.header',
    says: 'The 401 of a Git request without credentials has WWW-Authenticate: Basic, without which Git never sends the credentials in its remote.',
    level: 'SHOULD',
    clauses: { push: 'The 401 of the first request of a push without credentials has WWW-Authenticate: Basic.' },
    check: async (t) => {
      const { name } = await sampleRepository(t);
      for (const service of ['git-upload-pack', 'git-receive-pack'] as const) {
        const response = await advertise(t, gitPath(name), undefined, service);
        expectMatch(
          response.header('www-authenticate'),
          /^Basic\b/i,
          `WWW-Authenticate of ${service} must offer Basic`,
        );
      }
    },
  },
  {
    id: 'git.basic.accepted',
    says: 'A token is accepted as the password of Basic authentication.',
    check: on(sampleRepository, async (t, { name }) => {
      const response = expectStatus(await advertise(t, gitPath(name), reader(name)), 200);
      expectSame(
        response.mediaType,
        'application/x-git-upload-pack-advertisement',
        'the media type must be that of a ref advertisement',
      );
    }),
  },
  leftOpen(
    'git.bearer',
    'The specification does not say whether the Git host accepts Bearer.',
    sampleRepository,
    async (t, { name }) => {
      const headers = { authorization: `Bearer ${t.token(reader(name))}` };
      t.observe('status', (await advertise(t, gitPath(name), undefined, 'git-upload-pack', { headers })).status);
    },
  ),
  {
    id: 'git.invalid-token',
    says: 'A token that is invalid or expired can neither read nor write.',
    writes: 'where-allowed',
    check: async (t) => {
      const past = t.seconds - 3600;
      const recipes = [{ defect: 'foreign-key' as const }, { claims: { iat: past - 600, exp: past } }];
      for (const recipe of recipes) {
        await forEachPlace(t, ofGit, async ({ place, ask }) => expectTokenRefused(t, place, await ask(recipe)));
      }
    },
  },
  {
    id: 'git.wrong-repo',
    says: 'A token for one repository can neither read nor write another.',
    clauses: { ephemeral: 'This is also true of the remote for ephemeral branches.' },
    writes: 'where-allowed',
    check: on(otherRepository, async (t, other) => {
      await forEachPlace(t, ofGit, async ({ place, ask }) =>
        expectGitRefused(t, `other repository, ${place.name}`, await ask({ repo: other.name }), NOT_FOUND),
      );
      const { name } = await sampleRepository(t);
      const path = gitPath(name).replace(/\.git$/, '+ephemeral.git');
      for (const [service, scope, place] of [
        ['git-upload-pack', 'git:read', 'Git'],
        ['git-receive-pack', 'git:write', 'Git push refs'],
      ] as const) {
        const response = await advertise(t, path, { repo: other.name, scopes: [scope] }, service);
        expectGitRefused(t, `other repository, ${place}`, response, NOT_FOUND);
      }
    }),
  },
  {
    id: 'git.missing-repo',
    says: 'A request to a repository that does not exist is refused.',
    writes: 'where-allowed',
    check: (t) =>
      forEachPlace(t, ofGit, async ({ place }) => {
        const repo = t.uniqueName();
        const response = await place.send(t, repo, { as: { repo, scopes: [place.scope] } });
        expectGitRefused(t, `missing repository, ${place.name}`, response, NOT_FOUND);
      }),
  },
  {
    id: 'git.no-repo-claim',
    says: 'A token without a repo claim can neither read nor write.',
    writes: 'where-allowed',
    check: (t) =>
      forEachPlace(t, ofGit, async ({ place, ask }) => {
        const response = await ask({ claims: { repo: null } });
        expectRefused(response);
        showsNothing(response);
        t.observe(place.route, response.status);
      }),
  },
  leftOpen(
    'git.protocol',
    'The specification does not describe protocol versions, shallow and partial clones, ephemeral refs and forced pushes.',
    historyRepository,
    async (t, { name }) => {
      for (const version of ['0', '1', '2']) {
        const response = await advertise(t, gitPath(name), reader(name), 'git-upload-pack', {
          headers: { 'git-protocol': `version=${version}` },
        });
        t.observe(`version ${version}`, /version [12]/.exec(response.text)?.[0] ?? 'version 0');
        if (version === '2') t.observe('fetch', /fetch=([^\n]*)/.exec(response.text)?.[1] ?? 'plain');
      }
      const git = await createGit(t);
      const shallow = git.fetch(name, t.defaultBranch, 1);
      t.observe('depth 1', await shallow.then(() => 'works').catch(() => 'refused'));
    },
  ),
]);

export const gitWrites = defineWritingRules('Git over HTTPS', 'git-writes', [
  {
    id: 'git.fetch',
    says: 'A fetch with git:read gets commits that were written through the API.',
    clauses: { content: 'A fetch after a clone gets each new commit with its parent and its files.' },
    check: on(groupRepository, (t, { name }) =>
      withEachGitClient(t, async (git) => {
        const tip = await git.fetch(name);
        // With this local branch, the next fetch sends the tip in a `have` line.
        await git.branch(t.defaultBranch, tip);
        // Stock Git offers these newer commits first, so it needs several requests to find the common tip.
        await git.branchOff('unpushed', tip, UNPUSHED, t.seconds + 3600);
        const text = t.uniqueName();
        const { sha: between } = await commitFiles(t, name, { 'between.txt': text });
        const { sha } = await commitFiles(t, name, { 'fetch.txt': text });
        expectSame(await git.fetch(name), sha, 'the fetch must bring the new commit');
        expectSame(await git.parents(sha), [between], 'the fetch must bring the parent of the new commit');
        expectSame(await git.parents(between), [tip], 'the fetch must bring the commits since the clone');
        for (const path of ['between.txt', 'fetch.txt']) {
          expectSame((await git.readFile(sha, path)).toString(), text, `the fetch must bring ${path}`);
        }
      }),
    ),
  },
  {
    id: 'git.visibility.api-to-git',
    says: 'Writes of the API are visible to Git.',
    clauses: { 'new-branch': 'A branch that the API created is visible to Git.' },
    check: on(groupRepository, async (t, { name }) => {
      const { sha } = await commitFiles(t, name, { 'visible.txt': t.uniqueName() });
      await t.eventually(
        async () => (await listRefs(t, name, reader(name))).get(`refs/heads/${t.defaultBranch}`) === sha,
        'the refs must list the new tip',
      );
      const branch = t.uniqueRef('branch');
      const metadata = { target_branch: branch, base_branch: t.defaultBranch };
      const made = await commitFiles(t, name, { 'branch.txt': branch }, metadata);
      await t.eventually(
        async () => (await listRefs(t, name, reader(name))).get(`refs/heads/${branch}`) === made.sha,
        'the refs must list the new branch',
      );
      await withEachGitClient(t, async (git) => {
        expectSame(await git.fetch(name, branch), made.sha, 'a fetch of the new branch must get its tip');
      });
      if (t.target.companion) await changesHead(t);
    }),
  },
  {
    id: 'git.visibility.git-to-api',
    says: 'Pushes of Git are visible to the API.',
    clauses: {
      file: 'The API reads the files of a pushed commit.',
      search: 'A search finds the files of a pushed commit, also if an equal search was answered before.',
    },
    check: on(groupRepository, (t, { name }) =>
      withEachGitClient(t, async (git) => {
        const tip = await git.fetch(name);
        const text = t.uniqueName();
        const matches = async () =>
          expectStatus(await grep(t, name, { query: { pattern: text } }), 200).array('matches');
        expectSame((await matches()).length, 0, 'the text must not be found before the push');
        const sha = await commitLocally(git, { parent: [tip], branch: t.defaultBranch, text });
        expectAbsent(await git.push(name, [t.defaultBranch]), `the push with ${git.name} must succeed`);
        await t.eventually(
          async () => (await getCommit(t, name, sha)).status === 200,
          'the API must return the pushed commit',
        );
        expectSame(await mustTipOf(t, name), sha, 'the branch must point to the written commit');
        const file = await getFile(t, name, { path: 'pushed.txt', ref: t.defaultBranch });
        expectSame(expectStatus(file, 200).text, text, 'the API must read the pushed file');
        expectSame((await matches()).length, 1, 'the text must be found after the push');
      }),
    ),
  },
]);

import { commitFiles } from '../../api/commit-pack.js';
import { getCommit, mustTipOf, reader } from '../../api/requests.js';
import type { Answer } from '../../check/answer.js';
import { expectAbsent, expectMatch, expectRefused, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { historyRepository } from '../../fixtures/history.js';
import { groupRepository, otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { createGit, type Git } from '../../git/git-client.js';
import { advertise, listRefs, readAdvertisement, showsRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { defineRules } from '../rule.js';

function refusesRefs(t: RuleContext, answer: Answer, where: string): void {
  expectRefused(answer);
  expectTrue(!showsRefs(answer), 'no ref is shown');
  t.tolerate('A35', where, answer, where.includes('repository') ? ['404', '403', '401'] : ['403', '401', '404']);
}

/** A commit on top of what was fetched, on a branch of the local repository. */
async function commitLocally(git: Git, parent: string, branch: string): Promise<string> {
  const who = { name: 'Gita Local', email: 'gita@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 };
  const tree = await git.writeTree({ 'pushed.txt': branch });
  const sha = await git.writeCommit({ tree, message: 'Push this\n', parent: [parent], author: who, committer: who });
  await git.branch(branch, sha);
  return sha;
}

export const gitReads = defineRules('Git over HTTPS', 'git-reads', [
  {
    id: 'git.remote.form',
    says: 'A clone from /<repo_name>.git with user t and the token as password brings the default branch.',
    check: async (t) => {
      const history = await historyRepository(t);
      const git = await createGit(t);
      const tip = await git.fetch(history.name);
      expectSame(tip, history.third.sha, 'the tip of main');
      expectSame(Object.keys(await git.listTree(tip)).sort(), Object.keys(history.files).sort(), 'with all files');
      t.observe('without .git', (await advertise(t, gitPath(history.name).slice(0, -4), reader(history.name))).status);
    },
  },
  {
    id: 'git.remote.user-t',
    says: 'The user name t is accepted.',
    check: async (t) => {
      const { name } = await sampleContent(t);
      const answer = await advertise(t, gitPath(name), reader(name));
      expectStatus(answer, 200);
      expectTrue(readAdvertisement(answer).size > 0, 'refs are shown');
      t.observe(
        'another user name',
        (await advertise(t, gitPath(name), reader(name), 'git-upload-pack', { user: 'x' })).status,
      );
    },
  },
  {
    id: 'git.remote.slash-name',
    says: 'How a slash in a name is written in a Git address is left open.',
    level: 'UNSPECIFIED',
    check: async (t) => {
      const { name } = await sampleRepository(t);
      t.observe('/', (await advertise(t, gitPath(name), reader(name))).status);
      t.observe('%2F', (await advertise(t, `/${encodeURIComponent(name)}.git`, reader(name))).status);
    },
  },
  {
    id: 'git.challenge.401',
    says: 'A request without credentials is 401.',
    check: async (t) => expectStatus(await advertise(t, gitPath((await sampleRepository(t)).name)), 401),
  },
  {
    id: 'git.challenge.header',
    says: 'That 401 asks for Basic, without which Git never sends the credentials of its remote.',
    level: 'SHOULD',
    check: async (t) => {
      const answer = await advertise(t, gitPath((await sampleRepository(t)).name));
      expectMatch(answer.header('www-authenticate'), /^Basic\b/i, 'WWW-Authenticate is Basic');
    },
  },
  {
    id: 'git.basic.accepted',
    says: 'A token is accepted as Basic password.',
    check: async (t) => {
      const { name } = await sampleRepository(t);
      const answer = await advertise(t, gitPath(name), reader(name));
      expectStatus(answer, 200);
      expectSame(answer.mediaType, 'application/x-git-upload-pack-advertisement', 'it is an advertisement');
    },
  },
  {
    id: 'git.bearer',
    says: 'What Bearer does on the Git host is left open.',
    level: 'UNSPECIFIED',
    check: async (t) => {
      const { name } = await sampleRepository(t);
      const headers = { authorization: `Bearer ${t.token(reader(name))}` };
      t.observe('status', (await advertise(t, gitPath(name), undefined, 'git-upload-pack', { headers })).status);
    },
  },
  {
    id: 'git.invalid-token',
    says: 'A token that is invalid or expired reads nothing.',
    check: async (t) => {
      const { name: repo } = await sampleRepository(t);
      const past = t.seconds - 3600;
      for (const recipe of [
        { repo, defect: 'foreign-key' as const },
        { repo, claims: { iat: past - 600, exp: past } },
      ]) {
        refusesRefs(t, await advertise(t, gitPath(repo), recipe), 'invalid token, Git');
      }
    },
  },
  {
    id: 'git.wrong-repo',
    says: 'A token of one repository does not read another.',
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      refusesRefs(t, await advertise(t, gitPath(b.name), reader(a.name)), 'other repository, Git');
    },
  },
  {
    id: 'git.missing-repo',
    says: 'A repository that does not exist is refused.',
    check: async (t) => {
      const name = t.uniqueName();
      refusesRefs(t, await advertise(t, gitPath(name), reader(name)), 'missing repository, Git');
    },
  },
  {
    id: 'git.no-repo-claim',
    says: 'A token without repo reads nothing.',
    check: async (t) => {
      const { name } = await sampleRepository(t);
      const answer = await advertise(t, gitPath(name), { scopes: ['git:read'] });
      expectRefused(answer);
      expectTrue(!showsRefs(answer), 'no ref is shown');
      t.observe('status', answer.status);
    },
  },
  {
    id: 'git.protocol',
    says: 'Protocol versions, shallow and partial clones, ephemeral refs and forced pushes are left open.',
    level: 'UNSPECIFIED',
    check: async (t) => {
      const { name } = await historyRepository(t);
      for (const version of ['0', '1', '2']) {
        const answer = await advertise(t, gitPath(name), reader(name), 'git-upload-pack', {
          headers: { 'git-protocol': `version=${version}` },
        });
        t.observe(`version ${version}`, /version [12]/.exec(answer.text)?.[0] ?? 'version 0');
        if (version === '2') t.observe('fetch', /fetch=([^\n]*)/.exec(answer.text)?.[1] ?? 'plain');
      }
      const git = await createGit(t);
      t.observe(
        'depth 1',
        await git.fetch(name, 'main', { depth: 1 }).then(
          () => 'works',
          () => 'refused',
        ),
      );
    },
  },
]);

export const gitWrites = defineRules('Git over HTTPS', 'git-writes', [
  {
    id: 'git.fetch',
    says: 'A fetch with git:read brings what the API committed.',
    writes: true,
    check: async (t) => {
      const { name } = await groupRepository(t);
      const git = await createGit(t);
      await git.fetch(name);
      const { sha } = await commitFiles(t, name, { 'fetch.txt': t.uniqueName() });
      expectSame(await git.fetch(name), sha, 'the new commit arrives');
    },
  },
  {
    id: 'git.push',
    says: 'A push of a new branch with git:write is there for the API.',
    writes: true,
    check: async (t) => {
      const { name, tip } = await groupRepository(t);
      const git = await createGit(t);
      await git.fetch(name);
      const sha = await commitLocally(git, tip, 'pushed');
      expectAbsent(await git.push(name, ['pushed']), 'the push passes');
      expectSame(await mustTipOf(t, name, 'pushed'), sha, 'the API sees the branch');
    },
  },
  {
    id: 'git.visibility.api-to-git',
    says: 'What the API writes, Git sees.',
    writes: true,
    check: async (t) => {
      const { name } = await groupRepository(t);
      const { sha } = await commitFiles(t, name, { 'visible.txt': t.uniqueName() });
      await t.eventually(
        async () => (await listRefs(t, name, reader(name))).get('refs/heads/main') === sha,
        'ls-refs shows the new tip',
      );
    },
  },
  {
    id: 'git.visibility.git-to-api',
    says: 'What Git pushes, the API sees.',
    writes: true,
    check: async (t) => {
      const { name } = await groupRepository(t);
      const git = await createGit(t);
      const sha = await commitLocally(git, await git.fetch(name), 'main');
      expectAbsent(await git.push(name, ['main']), 'the push passes');
      await t.eventually(async () => (await getCommit(t, name, sha)).status === 200, 'the commit can be read');
      expectSame(await mustTipOf(t, name), sha, 'the branch is there');
    },
  },
]);

import { packLines, sendPack } from '../../api/commit-pack.js';
import { createRepo, getCommit, getRepo, listBranches, listRepos, repositoryPath } from '../../api/requests.js';
import { expectCode, expectSame, expectStatus } from '../../check/expect.js';
import { sampleContent } from '../../fixtures/content.js';
import { groupRepository, otherRepository, sampleRepository } from '../../fixtures/repositories.js';
import { defineRules } from '../rule.js';

/** Another name where the name has a letter with two cases. */
function swapCase(name: string): string {
  return Array.from(name, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  ).join('');
}

const NO_CLAIM = ['400 repo_claim_missing', '403 forbidden'];

export const repoClaim = defineRules('Repository claim', 'repository-claim', [
  {
    id: 'auth.repo-claim.missing.git-read',
    says: 'A token with git:read and without repo is refused.',
    check: async (t) => {
      const { name } = await sampleRepository(t);
      t.tolerate('A03', 'no repo claim', await getRepo(t, name, { as: { scopes: ['git:read'] } }), NO_CLAIM);
    },
  },
  {
    id: 'auth.repo-claim.missing.git-write',
    says: 'A token with git:write and without repo is refused.',
    writes: true,
    check: async (t) => {
      const { name } = await groupRepository(t);
      const answer = await sendPack(t, name, packLines({ 'x.txt': 'x' }), { as: { scopes: ['git:write'] } });
      t.tolerate('A03', 'no repo claim', answer, NO_CLAIM);
    },
  },
  {
    id: 'auth.repo-claim.missing.repo-write',
    says: 'A token with repo:write and without repo is refused.',
    writes: true,
    check: async (t) => {
      const answer = await createRepo(t, '', { as: { scopes: ['repo:write'] } });
      t.tolerate('A03', 'no repo claim', answer, NO_CLAIM);
    },
  },
  {
    id: 'auth.repo-claim.missing.mixed',
    says: 'A token with org:read and another scope needs repo all the same.',
    check: async (t) => {
      const answer = await listRepos(t, {}, { as: { scopes: ['org:read', 'git:read'] } });
      t.tolerate('A03', 'no repo claim', answer, NO_CLAIM);
    },
  },
  {
    id: 'auth.repo-claim.org-read.absent',
    says: 'A token with org:read alone needs no repo.',
    check: async (t) => {
      expectStatus(await listRepos(t), 200);
      expectStatus(await t.get('/api/meta', { as: { scopes: ['org:read'] } }), 200);
    },
  },
  {
    id: 'auth.repo-claim.org-read.present',
    says: 'A repo claim does no harm on routes of the organization.',
    level: 'SHOULD',
    check: async (t) => expectStatus(await listRepos(t, {}, { as: { scopes: ['org:read'], repo: 'anything' } }), 200),
  },
  {
    id: 'auth.repo-claim.org-read.repo-route',
    says: 'A token with org:read alone and without repo reaches no repository.',
    check: async (t) => {
      const { name, branch } = await sampleContent(t);
      const answer = await getCommit(t, name, branch, { as: { scopes: ['org:read'] } });
      t.tolerate('A03', 'org:read on a repository', answer, [...NO_CLAIM, '403 insufficient_scope']);
    },
  },
  {
    id: 'auth.repo-claim.path-differs',
    says: 'A path that names another repository than the token is 404 repository_not_found.',
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      expectCode(await listBranches(t, b.name, { as: { repo: a.name } }), 404, 'repository_not_found');
    },
  },
  {
    id: 'auth.repo-claim.path-missing-repo',
    says: 'A repository that does not exist is 404 repository_not_found.',
    check: async (t) => expectCode(await listBranches(t, t.uniqueName()), 404, 'repository_not_found'),
  },
  {
    id: 'auth.repo-claim.path-indistinguishable',
    says: 'The two cannot be told apart.',
    check: async (t) => {
      const [a, b] = [await sampleRepository(t), await otherRepository(t)];
      const answers = [await listBranches(t, b.name, { as: { repo: a.name } }), await listBranches(t, t.uniqueName())];
      const [differs, missing] = answers.map((answer) => ({
        status: answer.status,
        code: answer.code,
        title: answer.find('title'),
        type: answer.find('type'),
      }));
      expectSame(differs, missing, 'status, code, title and type are equal');
    },
  },
  {
    id: 'auth.repo-claim.path-case',
    says: 'Case and a .git at the end make another name.',
    check: async (t) => {
      const { name } = await sampleRepository(t);
      for (const path of [swapCase(name), `${name}.git`].filter((path) => path !== name)) {
        const answer = await t.get(`${repositoryPath(path)}/branches`, { as: { repo: name } });
        expectCode(answer, 404, 'repository_not_found');
      }
    },
  },
]);

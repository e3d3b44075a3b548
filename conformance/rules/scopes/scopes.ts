import {
  commitFiles,
  createRepo,
  deleteRepo,
  getRepo,
  keeper,
  packLines,
  segment,
  sendPack,
  writeNote,
} from '../../api.js';
import type { Answer } from '../../exchange.js';
import { expectOther, expectStatus, expectSuccess, expectTrue } from '../../expect.js';
import { defineRules } from '../../rule.js';
import type { Trial } from '../../trial.js';
import { rejects } from '../authentication/keys.js';

const base = (repo: string) => `/api/repos/${segment(repo)}`;

/** A tag to delete, on the scratch repository. */
async function tagged(t: Trial): Promise<{ repo: string; tag: string; path: string }> {
  t.needsCompanion();
  const { name: repo } = await t.world.scratch(t);
  const { sha } = await commitFiles(t, repo, { 'tag.txt': t.world.newName() });
  const tag = `tag-${sha.slice(0, 10)}`;
  const as = { repo, scopes: ['git:write'] };
  expectSuccess(await t.post(`${base(repo)}/tags`, { as, json: { name: tag, target: sha } }));
  return { repo, tag, path: `${base(repo)}/tags/${tag}` };
}

function refusedForScope(answer: Answer): void {
  expectTrue(answer.outcome === '403 insufficient_scope', 'it is 403 insufficient_scope', answer.outcome);
}

export const scopes = defineRules('Scopes', 'scopes', [
  rejects('scope.exact-match', 'A scope in capitals or with a space is a scope nobody knows.', [
    { scopes: ['GIT:READ'] },
    { scopes: ['git:read '] },
  ]),
  rejects('scope.star-invalid', 'A token cannot ask for the scope *.', [{ scopes: ['*'] }]),
  {
    id: 'scope.combined',
    says: 'A token with two scopes may do what either allows.',
    writes: true,
    check: async (t) => {
      const { name: repo } = await t.world.scratch(t);
      const as = { repo, scopes: ['git:read', 'git:write'] };
      expectStatus(await getRepo(t, repo, { as }), 200);
      expectStatus(await sendPack(t, repo, packLines({ 'both.txt': 'x' }), { as }), 201);
    },
  },
  {
    id: 'scope.tag-delete.both',
    says: 'git:read and git:write together may delete a tag.',
    reach: 'needs-setup',
    writes: true,
    check: async (t) => {
      const { repo, path } = await tagged(t);
      expectSuccess(await t.request('DELETE', path, { as: { repo, scopes: ['git:read', 'git:write'] } }));
    },
  },
  ...(['read', 'write'] as const).map((half) => ({
    id: `scope.tag-delete.${half}-only`,
    says: `git:${half} alone may not delete a tag.`,
    reach: 'needs-setup' as const,
    writes: true,
    check: async (t: Trial) => {
      const { repo, path } = await tagged(t);
      refusedForScope(await t.request('DELETE', path, { as: { repo, scopes: [`git:${half}`] } }));
    },
  })),
  {
    id: 'scope.repo-write.lifecycle',
    says: 'repo:write, and not git:write, creates, updates and deletes repositories, their base and their credentials.',
    reach: 'needs-setup',
    writes: true,
    check: async (t) => {
      t.needsCompanion();
      const { name: repo } = await t.world.fresh(t);
      const steps: [string, string, object?][] = [
        ['PATCH', '', { default_branch: 'main' }],
        ['POST', '/git-credentials', { username: 'u', password: 'p' }],
        ['DELETE', '/base'],
        ['DELETE', ''],
      ];
      for (const [method, path, json] of steps) {
        const ask = json === undefined ? {} : { json };
        refusedForScope(await t.request(method, base(repo) + path, { as: { repo, scopes: ['git:write'] }, ...ask }));
        const answer = await t.request(method, base(repo) + path, { as: keeper(repo), ...ask });
        expectTrue(
          answer.status !== 401 && answer.status !== 403,
          `${method} ${path} takes repo:write`,
          answer.outcome,
        );
        expectOther(answer.code, 'route_not_found', `${method} ${path} is a route`);
      }
      expectStatus(await getRepo(t, repo), 404, 409);
      t.observe('create again', (await createRepo(t, repo)).outcome);
      t.observe('delete again', (await deleteRepo(t, repo)).outcome);
    },
  },
  {
    id: 'scope.write-family',
    says: 'git:write covers branches, tags, commits, merges, notes and upstream pulls.',
    reach: 'needs-setup',
    writes: true,
    check: async (t) => {
      t.needsCompanion();
      const { name: repo, tip } = await t.world.fresh(t);
      const as = { repo, scopes: ['git:write'] };
      expectSuccess(
        await t.post(`${base(repo)}/branches/create`, { as, json: { target_branch: 'side', base_branch: 'main' } }),
      );
      expectSuccess(await t.post(`${base(repo)}/tags`, { as, json: { name: 'family', target: tip } }));
      expectSuccess(await sendPack(t, repo, packLines({ 'side.txt': 'x' }, { target_branch: 'side' })));
      const merge = { source_branch: 'side', target_branch: 'main', strategy: 'ff_prefer' };
      expectSuccess(await t.post(`${base(repo)}/merge`, { as, json: merge }));
      expectSuccess(await writeNote(t, repo, { sha: tip, note: 'family' }));
      const pull = await t.post(`${base(repo)}/pull-upstream`, { as, json: {} });
      expectTrue(pull.status !== 401 && pull.status !== 403, 'pulling takes git:write', pull.outcome);
    },
  },
  {
    id: 'scope.read-family',
    says: 'git:read covers blame, notes, tags and merge preview.',
    reach: 'needs-setup',
    check: async (t) => {
      t.needsCompanion();
      const { name: repo, tip } = await t.world.fresh(t);
      expectSuccess(await writeNote(t, repo, { sha: tip, note: 'family' }));
      const paths = [
        '/blame?path=README.md',
        `/notes?sha=${tip}`,
        '/tags',
        '/merge/preview?source_branch=main&target_branch=main',
      ];
      for (const path of paths) {
        expectStatus(await t.get(base(repo) + path, { as: { repo, scopes: ['git:read'] } }), 200);
      }
    },
  },
]);

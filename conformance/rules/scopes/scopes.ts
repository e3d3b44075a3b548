import { commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { getRepo, repositoryPath } from '../../api/requests.js';
import type { Answer } from '../../check/answer.js';
import { expectStatus, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { rejectsTokens } from '../authentication/token-checks.js';
import { callOperation, forEachRoute, needsScopes } from '../companion/call-operation.js';
import { defineRules } from '../rule.js';

/** A tag to delete, on the repository of the group. */
async function tagged(t: RuleContext): Promise<{ repo: string; tag: string; path: string }> {
  t.needsCompanion();
  const { name: repo } = await groupRepository(t);
  const { sha } = await commitFiles(t, repo, { 'tag.txt': t.uniqueName() });
  const tag = `tag-${sha.slice(0, 10)}`;
  const as = { repo, scopes: ['git:write'] };
  expectSuccess(await t.post(`${repositoryPath(repo)}/tags`, { as, json: { name: tag, target: sha } }));
  return { repo, tag, path: `${repositoryPath(repo)}/tags/${tag}` };
}

/** What is wrong with an answer that has to be a success. */
function failureOf({ status, outcome }: Answer): string | undefined {
  return status < 200 || status > 299 ? outcome : undefined;
}

/** Every operation that takes this scope succeeds with it alone. */
function coversFamily(t: RuleContext, scope: string): Promise<void> {
  return forEachRoute(t, needsScopes(scope), async ({ operation, family, repository }) =>
    failureOf(await callOperation(repository, operation, family)),
  );
}

function refusedForScope(answer: Answer): void {
  expectTrue(answer.outcome === '403 insufficient_scope', 'it is 403 insufficient_scope', answer.outcome);
}

export const scopes = defineRules('Scopes', 'scopes', [
  rejectsTokens('scope.exact-match', 'A scope in capitals or with a space is a scope nobody knows.', [
    { scopes: ['GIT:READ'] },
    { scopes: ['git:read '] },
  ]),
  rejectsTokens('scope.star-invalid', 'A token cannot ask for the scope *.', [{ scopes: ['*'] }]),
  {
    id: 'scope.combined',
    says: 'A token with two scopes may do what either allows.',
    writes: true,
    check: async (t) => {
      const { name: repo } = await groupRepository(t);
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
    check: async (t: RuleContext) => {
      const { repo, path } = await tagged(t);
      refusedForScope(await t.request('DELETE', path, { as: { repo, scopes: [`git:${half}`] } }));
    },
  })),
  {
    id: 'scope.repo-write.lifecycle',
    says: 'repo:write, and not git:write, creates, updates and deletes repositories, their base and their credentials.',
    reach: 'needs-setup',
    writes: true,
    check: (t) =>
      forEachRoute(t, needsScopes('repo:write'), async ({ operation, family, repository }) => {
        const refused = await callOperation(repository, operation, family, undefined, ['git:write']);
        if (refused.outcome !== '403 insufficient_scope') return `with git:write it is ${refused.outcome}`;
        return failureOf(await callOperation(repository, operation, family));
      }),
  },
  {
    id: 'scope.write-family',
    says: 'git:write covers branches, tags, commits, merges, notes and upstream pulls.',
    reach: 'needs-setup',
    writes: true,
    check: (t) => coversFamily(t, 'git:write'),
  },
  {
    id: 'scope.read-family',
    says: 'git:read covers blame, notes, tags and merge preview.',
    reach: 'needs-setup',
    writes: true,
    check: (t) => coversFamily(t, 'git:read'),
  },
]);

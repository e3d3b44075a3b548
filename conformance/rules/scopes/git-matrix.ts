import { commitFiles } from '../../api/commit-pack.js';
import { expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { commitLocally, createGit } from '../../git/git-client.js';
import { advertise, listRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { SCOPES, type Scope, slug } from '../documented-operations.js';
import { defineRules, on, type RuleRow } from '../rule.js';
import { expectScopeMissing, forEachPlace } from '../token-places.js';

/** Both requests of Git's, for refs and for what follows, are refused to a token with this scope. */
function isRefused(t: RuleContext, needed: Scope, scope: Scope): Promise<void> {
  return forEachPlace(
    t,
    (place) => place.isGit && place.scope === needed,
    async ({ place, ask }) => expectScopeMissing(t, place, await ask({ scopes: [scope] })),
  );
}

function fetchCell(scope: Scope): RuleRow {
  const allowed = scope === 'git:read';
  return {
    id: `scope.matrix.git-fetch.${slug(scope)}`,
    says: allowed ? `${scope} alone may clone and fetch.` : `${scope} alone may neither clone nor fetch.`,
    check: async (t) => {
      if (!allowed) return isRefused(t, 'git:read', scope);
      const { name: repo } = await sampleContent(t);
      expectStatus(await advertise(t, gitPath(repo), { repo, scopes: [scope] }), 200);
      expectTrue((await listRefs(t, repo, { repo, scopes: [scope] })).size > 0, 'refs are listed');
    },
  };
}

function pushCell(scope: Scope): RuleRow {
  const allowed = scope === 'git:write';
  return {
    id: `scope.matrix.git-push.${slug(scope)}`,
    says: allowed ? `${scope} alone may push.` : `${scope} alone may not push, and no ref moves.`,
    writes: true,
    check: on(groupRepository, async (t, { name: repo }) => {
      const { sha } = await commitFiles(t, repo, { 'base.txt': t.uniqueName() });
      const git = await createGit(t);
      await git.fetch(repo);
      const commit = await commitLocally(git, { parent: [sha], branch: 'main', text: scope });
      const problem = await git.push(repo, ['main'], { repo, scopes: [scope] });
      const tip = (await listRefs(t, repo, { repo, scopes: ['git:read'] })).get('refs/heads/main');
      expectSame(problem === undefined, allowed, allowed ? `the push passes (${problem})` : 'the push is refused');
      expectSame(tip, allowed ? commit : sha, allowed ? 'the branch moved' : 'the branch stays');
      if (!allowed) await isRefused(t, 'git:write', scope);
    }),
  };
}

export const gitMatrix = [
  ...defineRules('Scopes', 'scopes-git-fetch', SCOPES.map(fetchCell)),
  ...defineRules('Scopes', 'scopes-git-push', SCOPES.map(pushCell)),
];

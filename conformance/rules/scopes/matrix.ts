import { commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { expectOther, expectSame, expectStatus, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleContent } from '../../fixtures/content.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { clone, commitLocally } from '../../git/git-client.js';
import { advertise, listRefs } from '../../git/refs.js';
import { gitPath } from '../../http/git-remote.js';
import { DOCUMENTED_OPERATIONS, SCOPES, type Scope, slug, type TokenPlace } from '../documented-operations.js';
import { defineRules, on, type Rule, type RuleRow } from '../rule.js';
import { expectGitRefused, expectScopeMissing, forEachPlace } from '../token-places.js';

function cell(operation: TokenPlace, scope: Scope): RuleRow {
  const id = `scope.matrix.${operation.name}.${slug(scope)}`;
  const { route, writes } = operation;
  const isAllowed = scope === operation.scope;
  const ask = async (t: RuleContext) => {
    const repo = await operation.repo(t);
    return operation.send(t, repo, { as: { repo, scopes: [scope] } });
  };
  if (isAllowed) {
    return {
      id,
      says: `A token with only ${scope} may call ${route}.`,
      writes,
      check: on(ask, (_t, response) => {
        if (operation.isLoose !== true) return expectSuccess(response);
        expectTrue(response.status !== 401 && response.status !== 403, 'the token must be accepted', response.outcome);
        return expectOther(response.code, 'route_not_found', 'the route must exist');
      }),
    };
  }
  if (operation.name === 'repo') {
    return {
      id,
      says: `The specification does not say whether a token with only ${scope} may call ${route}.`,
      level: 'UNSPECIFIED',
      check: on(ask, (t, response) => {
        t.observe('outcome', response);
        t.tolerate('A26', `${scope}, repo`, response, ['403 insufficient_scope', '401', '200']);
      }),
    };
  }
  const isEphemeralTried = operation.name === 'pack' && scope === 'git:read';
  return {
    id,
    says: `A token with only ${scope} may not call ${route}.`,
    ...(isEphemeralTried && { clauses: { ephemeral: 'This is also true of commits to an ephemeral branch.' } }),
    writes,
    check: on(ask, async (t, response) => {
      expectScopeMissing(t, operation, response);
      if (!isEphemeralTried) return;
      const repo = await operation.repo(t);
      const lines = packLines(
        t,
        { 'ephemeral.txt': 'e' },
        { target_branch: t.uniqueRef('ephemeral'), ephemeral: true },
      );
      expectScopeMissing(t, operation, await sendPack(t, repo, lines, { as: { repo, scopes: [scope] } }));
    }),
  };
}

/**
 * Rules that try each documented operation with tokens of a single scope, because no scope includes another. Each
 * operation has its own group of rules.
 */
export const scopeMatrix: readonly Rule[] = DOCUMENTED_OPERATIONS.flatMap((operation) => {
  const cells = SCOPES.map((scope) => cell(operation, scope));
  return defineRules('Scopes', `scopes-${operation.name}`, cells);
});

/**
 * Expects Git operations that need the scope `needed` to refuse a token that has only `scope`. The token can neither
 * list refs nor transfer a pack.
 */
function isRefused(t: RuleContext, needed: Scope, scope: Scope): Promise<void> {
  const isTried = (place: TokenPlace) => place.isGit && place.scope === needed;
  return forEachPlace(t, isTried, async ({ place, ask }) =>
    expectScopeMissing(t, place, await ask({ scopes: [scope] })),
  );
}

function fetchCell(scope: Scope): RuleRow {
  const allowed = scope === 'git:read';
  return {
    id: `scope.matrix.git-fetch.${slug(scope)}`,
    says: allowed
      ? `A token with only ${scope} may clone and fetch.`
      : `A token with only ${scope} may neither clone nor fetch.`,
    check: async (t) => {
      if (!allowed) return isRefused(t, 'git:read', scope);
      const { name: repo } = await sampleContent(t);
      expectStatus(await advertise(t, gitPath(repo), { repo, scopes: [scope] }), 200);
      expectTrue((await listRefs(t, repo, { repo, scopes: [scope] })).size > 0, 'the refs must be listed');
    },
  };
}

/** Expects the remote for ephemeral branches to refuse the refs for a push with only git:read. */
async function refusesEphemeralPush(t: RuleContext, repo: string): Promise<void> {
  const path = `${gitPath(repo).replace(/\.git$/, '')}+ephemeral.git`;
  const response = await advertise(t, path, { repo, scopes: ['git:read'] }, 'git-receive-pack');
  expectGitRefused(t, 'Git push refs, without scope', response, ['403', '401', '404']);
}

function pushCell(scope: Scope): RuleRow {
  const allowed = scope === 'git:write';
  return {
    id: `scope.matrix.git-push.${slug(scope)}`,
    says: allowed ? `A token with only ${scope} may push.` : `A token with only ${scope} may not push; no ref changes.`,
    ...(scope === 'git:read' && { clauses: { ephemeral: 'This is also true of the remote for ephemeral branches.' } }),
    writes: true,
    check: on(groupRepository, async (t, { name: repo }) => {
      const { sha } = await commitFiles(t, repo, { 'base.txt': t.uniqueName() });
      const { git } = await clone(t, repo);
      const commit = await commitLocally(git, { parent: [sha], branch: t.defaultBranch, text: scope });
      const problem = await git.push(repo, [t.defaultBranch], { repo, scopes: [scope] });
      const tip = (await listRefs(t, repo, { repo, scopes: ['git:read'] })).get(`refs/heads/${t.defaultBranch}`);
      expectSame(
        problem === undefined,
        allowed,
        allowed ? `the push must succeed (${problem})` : 'the push must be refused',
      );
      expectSame(
        tip,
        allowed ? commit : sha,
        allowed ? 'the branch tip must change' : 'the branch tip must not change',
      );
      if (!allowed) await isRefused(t, 'git:write', scope);
      if (scope === 'git:read') await refusesEphemeralPush(t, repo);
    }),
  };
}

export const gitMatrix = [
  ...defineRules('Scopes', 'scopes-git-fetch', SCOPES.map(fetchCell)),
  ...defineRules('Scopes', 'scopes-git-push', SCOPES.map(pushCell)),
];

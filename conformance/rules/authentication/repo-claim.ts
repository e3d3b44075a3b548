import { listRepos, repositoryPath } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectCode, expectSame, expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { tryAgain } from '../../check/try-again.js';
import { otherRepository, sampleRepository, siblingRepository } from '../../fixtures/repositories.js';
import { forEachRoute, routeOf } from '../companion/call-operation.js';
import { slug, type TokenPlace } from '../documented-operations.js';
import { defineRules, on } from '../rule.js';
import { expectErrorOf, expectGitRefused, forEachPlace, ofContent, ofScope } from '../token-places.js';

/**
 * Swaps upper-case and lower-case letters: `Ab` becomes `aB`. The result equals the name if no letter has two cases.
 */
export function swapCase(name: string): string {
  return Array.from(name, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  ).join('');
}

const GIT_REFUSALS = ['400', '403', '401', '404'];
const NO_CLAIM = ['400 repo_claim_missing', '403 forbidden'];

const NO_REPO = { repo: null };
/** Response to a token without the required `repo` claim. It is tolerated only if the URL path names a repository. */
const ABSENT = ['404 repository_not_found'];

const namesRepository = ({ namesRepository, isGit }: TokenPlace) => namesRepository && !isGit;
const ofRepository = ({ scope }: TokenPlace) => scope !== 'org:read';

function expectClaimMissing(t: RuleContext, { name, isGit, namesRepository }: TokenPlace, response: ApiResponse): void {
  const where = `no repo claim${name === 'repo' ? '' : `, ${name}`}`;
  if (isGit) expectGitRefused(t, where, response, GIT_REFUSALS);
  else t.tolerate('A03', where, response, namesRepository ? [...NO_CLAIM, ...ABSENT] : NO_CLAIM);
}

/**
 * Scopes that concern one repository. The second value is the setting `writes` of the scope's rule. False: its requests
 * only read. True: they write. `where-allowed`: the rule can omit the writes on a read-only target.
 */
const MISSING = [
  ['git:read', false],
  ['git:write', 'where-allowed'],
  ['repo:write', true],
] as const;

/**
 * Makes an error body comparable with that of another repository. Omits `instance`, and replaces repository names in
 * texts by `<name>`.
 */
function withoutNames(response: ApiResponse, ...names: readonly string[]): object {
  const spellings = names.flatMap((name) => [name, encodeURIComponent(name)]).sort((a, b) => b.length - a.length);
  const neutral = (value: unknown) =>
    typeof value === 'string' ? spellings.reduce((text, name) => text.replaceAll(name, '<name>'), value) : value;
  const members = ['status', 'title', 'type', 'code', 'detail', 'error'];
  const said = members.map((member) => [member, neutral(response.find(member))]);
  return { 'HTTP status': response.status, 'media type': response.mediaType, ...Object.fromEntries(said) };
}

/**
 * Compares the responses for a repository that does not exist and for one that the token does not name. They must be
 * equal, so that a client cannot tell the two cases apart. Covers every route below `/api/repos`.
 */
async function comparePreferredRoutes(t: RuleContext): Promise<void> {
  const [a, b] = [await sampleRepository(t), await siblingRepository(t)];
  await forEachRoute(
    t,
    ({ routes: { preferred = '' }, method }) => preferred.includes('{n}') && method !== 'HEAD',
    async ({ operation, family, repository, label }) => {
      if (family !== 'preferred') return undefined;
      const { params, repo: _, ...options } = await operation.request(repository, family);
      const ask = (path: string, repo: string) => {
        const route = routeOf(operation, family, path, params) ?? label;
        return t.request(operation.method, route, { ...options, as: { repo, scopes: operation.scopes } });
      };
      const missing = t.uniqueName();
      await tryAgain(async () => {
        const [expected, actual] = [await ask(missing, missing), await ask(a.name, b.name)];
        expectStatus(actual, 404);
        expectSame(
          withoutNames(actual, a.name, b.name),
          withoutNames(expected, missing),
          `${label}: both responses must be equal`,
        );
      });
      return undefined;
    },
  );
}

export const repoClaim = defineRules('Repository claim', 'repository-claim', [
  ...MISSING.map(([scope, writes]) => ({
    id: `auth.repo-claim.missing.${slug(scope)}`,
    says: `A token with ${scope} and no repo claim is rejected.`,
    writes,
    check: (t: RuleContext) =>
      forEachPlace(t, ofScope(scope), async ({ place, ask }) =>
        expectClaimMissing(t, place, await ask({ claims: NO_REPO })),
      ),
  })),
  {
    id: 'auth.repo-claim.missing.mixed',
    says: 'A token with org:read and another scope needs a repo claim.',
    clauses: { order: 'The order of the scopes does not matter.' },
    check: (t) =>
      forEachPlace(t, ofScope('org:read'), async ({ place, ask }) => {
        for (const [other] of MISSING) {
          for (const scopes of [
            ['org:read', other],
            [other, 'org:read'],
          ]) {
            expectClaimMissing(t, place, await ask({ scopes, claims: NO_REPO }));
          }
        }
      }),
  },
  {
    id: 'auth.repo-claim.org-read.absent',
    says: 'A token with only org:read needs no repo claim.',
    check: async (t) => {
      expectStatus(await listRepos(t), 200);
      expectStatus(await t.get('/api/meta', { as: { scopes: ['org:read'] } }), 200);
    },
  },
  {
    id: 'auth.repo-claim.org-read.present',
    says: 'A repo claim is accepted on routes of the organization.',
    level: 'SHOULD',
    check: async (t) => expectStatus(await listRepos(t, {}, { as: { scopes: ['org:read'], repo: 'anything' } }), 200),
  },
  {
    id: 'auth.repo-claim.org-read.repo-route',
    says: 'A token with only org:read and no repo claim reaches no repository.',
    writes: 'where-allowed',
    check: (t) =>
      forEachPlace(t, ofRepository, async ({ place, ask }) => {
        const response = await ask({ scopes: ['org:read'], claims: NO_REPO });
        if (place.isGit) return expectGitRefused(t, `${place.name}, org:read alone`, response, GIT_REFUSALS);
        const where = place.name === 'commit' ? '' : `, ${place.name}`;
        const members = [...NO_CLAIM, '403 insufficient_scope', ...(place.namesRepository ? ABSENT : [])];
        t.tolerate('A03', `org:read on a repository${where}`, response, members);
      }),
  },
  {
    id: 'auth.repo-claim.path-differs',
    says: 'A path whose repository name differs from the repo claim is refused with 404 repository_not_found.',
    writes: 'where-allowed',
    check: on(
      otherRepository,
      async (t, other) =>
        await forEachPlace(t, namesRepository, async ({ place, repo }) => {
          const recipe = { repo: other.name, scopes: [place.scope] };
          expectCode(await place.send(t, repo, { as: recipe }), 404, 'repository_not_found');
        }),
    ),
  },
  {
    id: 'auth.repo-claim.path-missing-repo',
    says: 'A repository that does not exist is refused with 404 repository_not_found.',
    writes: 'where-allowed',
    check: (t) =>
      forEachPlace(t, ofContent, async ({ place }) => {
        const repo = t.uniqueName();
        const response = await place.send(t, repo, { as: { repo, scopes: [place.scope] } });
        expectErrorOf(place, response, 404, 'repository_not_found');
      }),
  },
  {
    id: 'auth.repo-claim.path-indistinguishable',
    says: 'A repository that does not exist and one that the token does not cover are answered alike.',
    writes: 'where-allowed',
    check: on(otherRepository, async (t, other) => {
      await forEachPlace(t, namesRepository, async ({ place, repo }) => {
        const [missing, unknown] = [t.uniqueName(), t.uniqueName()];
        const ask = (path: string, claim: string) =>
          place.send(t, path, { as: { repo: claim, scopes: [place.scope] } });
        await tryAgain(async () => {
          const expected = withoutNames(await ask(missing, missing), missing);
          expectSame(
            withoutNames(await ask(repo, other.name), repo, other.name),
            expected,
            'both responses must be equal',
          );
          expectSame(withoutNames(await ask(unknown, repo), unknown, repo), expected, 'both responses must be equal');
        });
      });
      if (t.target.companion && t.target.write) await comparePreferredRoutes(t);
    }),
  },
  {
    id: 'auth.repo-claim.path-case',
    says: 'The name is compared exactly: another case, or .git at the end, is a different name.',
    check: on(sampleRepository, async (t, { name }) => {
      for (const path of [swapCase(name), `${name}.git`].filter((path) => path !== name)) {
        const response = await t.get(`${repositoryPath(path)}/branches`, { as: { repo: name } });
        expectCode(response, 404, 'repository_not_found');
      }
    }),
  },
]);

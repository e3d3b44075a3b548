import { createRepo, listRepos, repositoryPath } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectCode, expectSame, expectStatus } from '../../check/expect.js';
import { swapCase } from '../../check/other-names.js';
import { AssertionFailure } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { tryAgain } from '../../check/try-again.js';
import { otherRepository, sampleRepository, siblingRepository } from '../../fixtures/repositories.js';
import { isRecord } from '../../http/exchange.js';
import { documentedOperation, slug, type TokenPlace } from '../documented-operations.js';
import { defineRules, on } from '../rule.js';
import { expectErrorOf, expectGitRefused, forEachPlace, ofContent, ofScope } from '../token-places.js';
import { refuseTokenEverywhere } from './every-route.js';
import { forEachPreparedRoute, sendTo, withUnchangedRefs } from './prepared-routes.js';

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

/** Request for a repository. `names`: repository names that its response may contain. */
interface Asked {
  readonly names: readonly string[];
  readonly ask: () => Promise<ApiResponse>;
}

/** Returns the names of the headers of a response, and of the members of its body. */
function namesIn({ exchange, json }: ApiResponse): readonly string[] {
  const members = isRecord(json) ? Object.keys(json) : [];
  return [...Object.keys(exchange.headers).map((name) => `header ${name}`), ...members.map((name) => `member ${name}`)];
}

/** Number of pairs of responses in which a name must be on one side only before it is reported as a difference. */
const PAIRS = 8;

/**
 * Expects equal refusals for a repository that does not exist (`missing`) and for ones that the token does not cover,
 * so that a client cannot tell the two cases apart. A service may add headers and members to some of its responses. A
 * header or member therefore counts as a difference only if all responses of one case have it and none of the other.
 */
async function expectAlike(missing: Asked, ...uncovered: readonly Asked[]): Promise<void> {
  let differences: string[] | undefined;
  const compare = async () => {
    const expected = await missing.ask();
    const found: string[] = [];
    for (const { names, ask } of uncovered) {
      const actual = await ask();
      expectSame(
        withoutNames(actual, ...names),
        withoutNames(expected, ...missing.names),
        'both responses must be equal',
      );
      const [some, others] = [namesIn(expected), namesIn(actual)];
      found.push(...some.filter((name) => !others.includes(name)).map((name) => `${name}, if it does not exist`));
      found.push(...others.filter((name) => !some.includes(name)).map((name) => `${name}, if it is not covered`));
    }
    differences = differences?.filter((name) => found.includes(name)) ?? found;
  };
  for (let pairs = 0; pairs === 0 || (pairs < PAIRS && differences?.length !== 0); pairs++) await tryAgain(compare);
  expectSame(differences, [], 'the responses for both repositories must have the same headers and members');
}

/**
 * Compares the responses for a repository that does not exist and for one that the token does not cover, on every route
 * below `/api/repos`. The token covers a repository with the same owner.
 */
async function comparePreferredRoutes(t: RuleContext): Promise<void> {
  const { name: covered } = await siblingRepository(t);
  const isCompared = ({ family, line }: { family: string; line: string }) =>
    family === 'preferred' && line.includes('{repo_name}');
  await withUnchangedRefs(t, covered, () =>
    forEachPreparedRoute(t, isCompared, async (route) => {
      const { repo, line, operation } = route;
      const ask = async (path: string, claim: string) => {
        const response = await sendTo(t, route, { as: { repo: claim, scopes: operation.scopes } }, path);
        if (operation.method === 'HEAD') expectStatus(response, 404, 405);
        else expectStatus(response, 404);
        return response;
      };
      const missing = t.uniqueName();
      await naming(line, () =>
        expectAlike(
          { names: [missing], ask: () => ask(missing, missing) },
          { names: [repo, covered], ask: () => ask(repo, covered) },
        ),
      );
      return undefined;
    }),
  );
}

/** Runs a check. The message of its failure begins with the route. */
async function naming(line: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof AssertionFailure)) throw error;
    throw new AssertionFailure(`${line}: ${error.what}`, error.expected, error.actual);
  }
}

export const repoClaim = defineRules('Repository claim', 'repository-claim', [
  ...MISSING.map(([scope, writes]) => ({
    id: `auth.repo-claim.missing.${slug(scope)}`,
    says: `A token with ${scope} and no repo claim is rejected.`,
    clauses: {
      everywhere: `Every operation that needs ${scope} rejects it, on each route of published clients.`,
      ...(scope === 'repo:write' && { body: 'A name in the body of a creation does not replace the claim.' }),
    },
    writes,
    check: async (t: RuleContext) => {
      await forEachPlace(t, ofScope(scope), async ({ place, ask }) =>
        expectClaimMissing(t, place, await ask({ claims: NO_REPO })),
      );
      await refuseTokenEverywhere(
        t,
        { claims: NO_REPO },
        {
          wanted: ({ operation }) => operation.scopes.at(-1) === scope,
          statuses: ({ family }) => (family === 'preferred' ? ['400', '403', '404'] : ['400', '403']),
        },
      );
      if (scope !== 'repo:write') return;
      const json = { repo_name: t.uniqueName() };
      const response = await createRepo(t, json.repo_name, { json, as: { scopes: [scope] } });
      expectClaimMissing(t, documentedOperation('create-repo'), response);
    },
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
    clauses: {
      names: 'No header and no member of the body is present in only one of the two cases.',
      everywhere: 'Every operation with the name in its path answers alike, on the routes of published clients.',
      head: 'A HEAD request is answered alike as well.',
    },
    writes: 'where-allowed',
    check: on(otherRepository, async (t, other) => {
      await forEachPlace(t, namesRepository, async ({ place, repo }) => {
        const [missing, unknown] = [t.uniqueName(), t.uniqueName()];
        const ask = (path: string, claim: string) => () =>
          place.send(t, path, { as: { repo: claim, scopes: [place.scope] } });
        await expectAlike(
          { names: [missing], ask: ask(missing, missing) },
          { names: [repo, other.name], ask: ask(repo, other.name) },
          { names: [unknown, repo], ask: ask(unknown, repo) },
        );
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

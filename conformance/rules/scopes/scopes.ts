import { packLines, sendPack } from '../../api/commit-pack.js';
import { getRepo } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectStatus, expectTrue, isMember } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { acceptToken, rejectsTokens } from '../authentication/token-checks.js';
import { callOperation, forEachRoute, needsScopes, type OperationRoute } from '../companion/call-operation.js';
import { DOCUMENTED_OPERATIONS, SCOPES } from '../documented-operations.js';
import { defineRules, on, rulesBy } from '../rule.js';
import { forEachPlace, ofApi } from '../token-places.js';

/** Scopes that a service accepts only if it offers hosting (deployment of repositories). */
const DEPLOYMENT_SCOPES = ['deployment:read', 'deployment:write'];

/** Returns status and code of a response that is not a success. Returns undefined for a success (2xx). */
function failureOf({ status, outcome }: ApiResponse): string | undefined {
  return status < 200 || status > 299 ? outcome : undefined;
}

/**
 * Returns true if the response refuses a token because of a missing scope. The refusal must have a form that the
 * specification documents for the operation.
 */
function isRefusedForScope({ operation }: OperationRoute, response: ApiResponse): boolean {
  // For HEAD, the status must suffice, because the response has no body with a code.
  if (response.status === 403 && operation.method === 'HEAD') return true;
  const place = DOCUMENTED_OPERATIONS.find(({ route }) => route.split(' ')[1] === operation.routes.v1);
  return (place?.lacksScope ?? ['403 insufficient_scope']).some((one) => isMember(response, one));
}

/** Name of the operation whose required scope the specification leaves open (A26). */
const OPEN = 'get repository';

/**
 * Name of an operation that responds 200 if an equal request was already executed. A 200 after a refusal therefore
 * shows that the service executed the refused request.
 */
const REPLAYED = 'create deployment';

/**
 * Sends two tokens to an operation. One has all scopes except the required ones and must be refused. The other has only
 * the required scopes and must be accepted. Returns a description of the violation; undefined if absent.
 */
async function takesItsScopeOnly(route: OperationRoute): Promise<string | undefined> {
  const { operation, family, repository } = route;
  const request = await operation.request(repository, family);
  const { scopes, name } = operation;
  const known = scopes.some((scope) => scope.startsWith('deployment:')) ? [...SCOPES, ...DEPLOYMENT_SCOPES] : SCOPES;
  const others = known.filter((scope) => !scopes.includes(scope));
  if (name !== OPEN) {
    const refused = await callOperation(repository, operation, family, request, others);
    if (!isRefusedForScope(route, refused)) return `with ${others.join(', ')} the response is ${refused.outcome}`;
  }
  const response = await callOperation(repository, operation, family, request);
  if (name === REPLAYED && response.status === 200) return 'the response is that of an operation already executed';
  return failureOf(response);
}

function coversFamily(t: RuleContext, ...scopes: readonly string[]): Promise<void> {
  return forEachRoute(t, ({ scopes: own }) => own.length === 1 && scopes.includes(own.join()), takesItsScopeOnly);
}

export const scopes = defineRules('Scopes', 'scopes', [
  rejectsTokens(
    'scope.exact-match',
    'A scope name in capital letters or with a space is an unknown scope.',
    [({ scope }) => ({ scopes: [scope.toUpperCase()] }), ({ scope }) => ({ scopes: [`${scope} `] })],
    {
      clauses: {
        part: 'A part of a scope name is an unknown scope: the text before or after the colon, or a longer name.',
        list: 'A text with several scope names is one unknown scope.',
        title: 'A scope name with one capital letter in each word is an unknown scope.',
      },
      alsoRejects: () => [
        ({ scope }) => ({ scopes: [scope.split(':', 1).join()] }),
        ({ scope }) => ({ scopes: [scope.replace(/.*:/, '')] }),
        ({ scope }) => ({ scopes: [`${scope}:all`] }),
        ({ scope }) => ({ scopes: [`${scope} git:write`] }),
        ({ scope }) => ({ scopes: [`git:write,${scope}`] }),
        ({ scope }) => ({ scopes: [scope.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())] }),
      ],
    },
  ),
  rejectsTokens('scope.star-invalid', 'The scope * is not valid in a token.', [{ scopes: ['*'] }], {
    clauses: {
      family: 'A star for one word of a scope, such as git:*, is not valid either.',
      beside: 'A token with * is rejected even if it lists the required scope as well.',
    },
    alsoRejects: () => [
      ({ scope }) => ({ scopes: [scope.replace(/:.*/, ':*')] }),
      ({ scope }) => ({ scopes: [scope.replace(/.*:/, '*:')] }),
      ({ scope }) => ({ scopes: ['*', scope] }),
    ],
  }),
  {
    id: 'scope.combined',
    says: 'A token with two scopes may do what either of them allows.',
    clauses: {
      all: 'A token with all scopes may do what each of them allows, on the routes of the organization as well.',
      order: 'The required scope may be the last of the list.',
    },
    writes: true,
    check: on(groupRepository, async (t, { name: repo }) => {
      const as = { repo, scopes: ['git:read', 'git:write'] };
      expectStatus(await getRepo(t, repo, { as }), 200);
      expectStatus(await sendPack(t, repo, packLines(t, { 'both.txt': 'x' }), { as }), 201);
      await acceptToken(t, { scopes: SCOPES });
      await forEachPlace(t, ofApi, async ({ place, ask }) => {
        const others = SCOPES.filter((scope) => scope !== place.scope);
        const { status, outcome } = await ask({ scopes: [...others, place.scope] });
        expectTrue(status !== 401 && status !== 403, 'the token must be accepted', outcome);
      });
    }),
  },
  {
    id: 'scope.tag-delete.both',
    says: 'A token with git:read and git:write may delete a tag.',
    reach: 'needs-setup',
    writes: true,
    clauses: { order: 'The order of the two scopes does not matter.' },
    check: (t) =>
      forEachRoute(t, needsScopes('git:read', 'git:write'), async ({ operation, family, repository }) => {
        const scopes = [...operation.scopes].reverse();
        return (
          failureOf(await callOperation(repository, operation, family)) ??
          failureOf(await callOperation(repository, operation, family, undefined, scopes))
        );
      }),
  },
  ...(['read', 'write'] as const).map((half) => ({
    id: `scope.tag-delete.${half}-only`,
    says: `A token with only git:${half} may not delete a tag.`,
    reach: 'needs-setup' as const,
    writes: true,
    check: (t: RuleContext) =>
      forEachRoute(t, needsScopes('git:read', 'git:write'), async (route) => {
        const { operation, family, repository } = route;
        const request = await operation.request(repository, family);
        const alone = `git:${half}`;
        for (const scopes of [[alone], [alone, 'repo:write', 'org:read']]) {
          const refused = await callOperation(repository, operation, family, request, scopes);
          if (!isRefusedForScope(route, refused)) return `with ${scopes.join(', ')} the response is ${refused.outcome}`;
        }
        return undefined;
      }),
  })),
  ...rulesBy(
    coversFamily,
    [
      [
        'scope.repo-write.lifecycle',
        'repo:write, and no other scope, allows creating, updating and deleting repositories, removing their base, and changing their credentials.',
        'repo:write',
      ],
      [
        'scope.write-family',
        'git:write, and no other scope, allows writing branches, tags, commits, merges, notes and upstream pulls.',
        ...['git:write', 'deployment:write'],
      ],
      [
        'scope.read-family',
        'git:read, and no other scope, allows reading blame, notes, tags and merge previews; other reads have rules of their own.',
        ...['git:read', 'org:read', 'deployment:read'],
      ],
    ],
    { reach: 'needs-setup', writes: true },
  ),
]);

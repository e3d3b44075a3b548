import { decodeJwt } from 'jose';
import { getRepo } from '../../api/requests.js';
import { tryAdmin } from '../../check/admin.js';
import { expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import { isRecord } from '../../http/exchange.js';
import type { TokenPlace } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { everyPlace, expectGitRefused, expectTokenRefused, forEachPlace } from '../token-places.js';
import { conditionalHeaders } from './conditional.js';
import { acceptsToken, readWithToken, refuseTokens, rejectsTokens, tokenRead, withKid } from './token-checks.js';

const YEAR = 31_536_000;
/**
 * Returns the claims of a token that the emulator's admin API creates for the sample repository with default options.
 * Checks first that the emulator accepts the token.
 */
async function helperClaims(t: RuleContext): Promise<Record<string, unknown>> {
  const { name } = await sampleRepository(t);
  const { status, json, text } = await tryAdmin(t, 'POST', '/tokens', { repo: name, org: t.target.org });
  if (status === 409) throw new Skip('the emulator was started without the test keys, and makes no tokens');
  const token = isRecord(json) ? json.token : undefined;
  expectTrue(status === 201 && typeof token === 'string', 'a token must be created', text);
  expectStatus(await getRepo(t, name, { as: undefined, headers: { authorization: `Bearer ${token}` } }), 200);
  return decodeJwt(token);
}

const isFileOrRecord = ({ name }: TokenPlace): boolean => name === 'file' || name === 'repo';

/** Returns the times of a token that expired an hour ago. */
function expired({ seconds }: RuleContext): { iat: number; exp: number } {
  return { iat: seconds - 7200, exp: seconds - 3600 };
}

export const claims = defineRules('Token claims', 'token-claims', [
  rejectsTokens('claim.iss.required', 'A token without iss is rejected.', [{ claims: { iss: null } }], {
    clauses: { kid: 'A token without iss is rejected even if its kid names the key that signed it.' },
    alsoRejects: (t) => [withKid(t, { claims: { iss: null } })],
  }),
  acceptsToken('claim.iss.organization', 'The claim iss of a token is the name of its organization.', {}),
  rejectsTokens(
    'claim.iss.selects-keys',
    'A token is verified only with the keys of the organization in its iss claim.',
    [(_, { target }) => ({ key: 'second', claims: { iss: target.org } })],
    { reach: 'needs-setup' },
  ),
  rejectsTokens(
    'claim.iss.unknown',
    'A token whose iss is an unknown organization is rejected.',
    [{ claims: { iss: 'no-such-org' } }],
    {
      clauses: { part: 'A name that contains the name of the organization, or is a part of it, is another name.' },
      alsoRejects: ({ target: { org } }) =>
        [`${org}-2`, `no-${org}`, org.slice(0, -1)].map((iss) => ({ claims: { iss } })),
    },
  ),
  leftOpen(
    'claim.iss.spelling',
    'The specification does not say whether iss may have the name of the organization in other letters, with spaces, as an address, or in an array.',
    async (t) => {
      const { org } = t.target;
      const spellings = {
        capitals: org.toUpperCase(),
        'space at the end': `${org} `,
        address: `https://${org}`,
        array: [org],
      };
      for (const [name, iss] of Object.entries(spellings)) t.observe(name, await readWithToken(t, { claims: { iss } }));
    },
  ),
  {
    id: 'claim.iss.other-tenant',
    says: 'A valid token of another organization is refused with 403 at the address of this organization.',
    writes: 'where-allowed',
    reach: 'needs-setup',
    check: async (t) => {
      t.key('second');
      await forEachPlace(t, everyPlace, async ({ place, ask }) => {
        const response = await ask({ key: 'second' });
        const where = `other tenant${place.name === 'repo' ? '' : `, ${place.name}`}`;
        if (place.isGit) expectGitRefused(t, where, response, ['403', '401', '404']);
        else t.tolerate('A34', where, response, ['403 forbidden']);
      });
    },
  },
  rejectsTokens('claim.sub.required', 'A token without sub is rejected.', [{ claims: { sub: null } }]),
  rejectsTokens('claim.scopes.required', 'A token without scopes is rejected.', [{ claims: { scopes: null } }], {
    clauses: { 'other-claim': 'The claims scope, scp and permissions do not replace scopes.' },
    alsoRejects: () => [
      ({ scope }) => ({ claims: { scopes: null, scope, scp: [scope], permissions: [scope], roles: [scope] } }),
      ({ scope }) => ({ claims: { scopes: null, scope: [scope], scp: scope } }),
    ],
  }),
  rejectsTokens(
    'claim.scopes.array',
    'A token whose scopes claim is not an array is rejected.',
    [({ scope }) => ({ claims: { scopes: scope } })],
    {
      level: 'SHOULD',
      clauses: { list: 'A text with several scopes, separated by a space or a comma, is not an array.' },
      alsoRejects: () => [
        ({ scope }) => ({ claims: { scopes: `${scope} git:write` } }),
        ({ scope }) => ({ claims: { scopes: `git:write,${scope}` } }),
      ],
    },
  ),
  leftOpen(
    'claim.scopes.empty',
    'The specification does not say whether a token with an empty scopes array is invalid or lacks scopes; it must not get access.',
    tokenRead({ scopes: [] }),
    async (t, response) => {
      t.observe('outcome', response);
      expectTrue(response.status >= 400, 'the request must be refused', response.outcome);
    },
  ),
  rejectsTokens(
    'claim.scopes.unknown-name',
    'A token with one unknown scope is rejected, whatever its other scopes are.',
    [({ scope }) => ({ scopes: [scope, 'git:admin'] })],
    {
      clauses: {
        first: 'The unknown scope may be the first of the list.',
        types: 'A value that is not a text, such as null or a number, is not a scope name.',
        everywhere: 'Every operation rejects a token with an unknown scope, on each route of published clients.',
      },
      alsoRejects: () => [
        ({ scope }) => ({ scopes: ['git:admin', scope] }),
        ({ scope }) => ({ claims: { scopes: [scope, null] } }),
        ({ scope }) => ({ claims: { scopes: [scope, 5] } }),
      ],
      everywhere: ({ operation }) => ({ scopes: [...operation.scopes, 'git:admin'] }),
    },
  ),
  {
    id: 'claim.repo.one',
    says: 'A token whose repo claim is not a string is rejected.',
    clauses: { list: 'A list that contains the requested repository is rejected.' },
    level: 'SHOULD',
    writes: 'where-allowed',
    check: async (t) => {
      await refuseTokens(t, { claims: { repo: ['a', 'b'] } });
      const isTried = ({ scope, writes }: TokenPlace) => scope === 'git:read' && !writes;
      await forEachPlace(t, isTried, async ({ place, repo, ask }) => {
        for (const list of [[repo], [repo, 'b']]) {
          expectTokenRefused(t, place, await ask({ claims: { repo: list } }));
        }
      });
    },
  },
  rejectsTokens(
    'claim.exp.expired',
    'A token that expired an hour ago is rejected.',
    [(_, t) => ({ claims: expired(t) })],
    {
      clauses: {
        conditional: 'An expired token is rejected even if the request has If-None-Match or Range.',
        'without-iat': 'An expired token without iat is rejected as well.',
        everywhere: 'Every operation rejects an expired token, on each route of published clients.',
      },
      alsoRejects: (t) => [{ claims: { iat: null, exp: t.seconds - 3600 } }],
      everywhere: (_, t) => ({ claims: expired(t) }),
      alsoChecks: (t) =>
        forEachPlace(t, isFileOrRecord, async ({ place, ask }) => {
          for (const headers of conditionalHeaders(await ask({})))
            expectTokenRefused(t, place, await ask({ claims: expired(t) }, { headers }));
        }),
    },
  ),
  leftOpen(
    'claim.exp.leeway',
    'The specification does not say how long after exp a token is still accepted.',
    async (t) => {
      for (const ago of [5, 30, 60]) {
        const claims = { iat: t.seconds - 600, exp: t.seconds - ago };
        t.observe(`${ago} s ago`, (await readWithToken(t, { claims })).status);
      }
    },
  ),
  {
    id: 'claim.exp.after-iat',
    says: 'A token whose exp is not after its iat is rejected.',
    level: 'SHOULD',
    check: async (t) => {
      const at = t.seconds + 3600;
      const response = await readWithToken(t, { claims: { iat: at, exp: at } });
      t.tolerate('A32', 'exp equals iat', response, ['403 forbidden', '401 unauthorized', '200']);
    },
  },
  leftOpen(
    'claim.exp.missing-unrestricted',
    'The specification does not say whether a token of an unrestricted key may omit exp.',
    tokenRead({ claims: { exp: null } }),
    async (t, response) => {
      t.observe('outcome', response);
      t.tolerate('A32', 'no exp', response, ['200', '403 forbidden', '401 unauthorized']);
    },
  ),
  leftOpen(
    'claim.times.type',
    'The specification does not say how iat and exp values that are not numbers are treated.',
    async (t) => {
      t.observe('exp', await readWithToken(t, { claims: { exp: String(t.seconds + 600) } }));
      t.observe('iat', await readWithToken(t, { claims: { iat: String(t.seconds) } }));
    },
  ),
  acceptsToken('claim.iat.optional-unrestricted', 'A token of an unrestricted key without iat is accepted.', {
    claims: { iat: null },
  }),
  leftOpen(
    'claim.nbf-aud-jti',
    'The specification does not describe nbf, aud, jti, an empty sub, or an iat in the future.',
    async (t) => {
      const future = t.seconds + 300;
      const all = {
        nbf: { nbf: future },
        aud: { aud: 'x' },
        jti: { jti: 'x' },
        other: { other: 1 },
        'empty sub': { sub: '' },
        'sub is a number': { sub: 5 },
        'repo is empty': { repo: '' },
        'future iat': { iat: future },
      };
      for (const [name, claims] of Object.entries(all)) t.observe(name, await readWithToken(t, { claims }));
    },
  ),
  {
    id: 'helper.default-lifetime',
    says: 'A token that the emulator creates is valid for 31536000 seconds (365 days) by default.',
    reach: 'emulator',
    check: on(helperClaims, async (_t, { iat, exp }) =>
      expectSame(Number(exp) - Number(iat), YEAR, 'the lifetime must be 31536000 s'),
    ),
  },
  {
    id: 'helper.default-scopes',
    says: 'A token that the emulator creates has the scopes git:write and git:read by default.',
    reach: 'emulator',
    check: async (t) =>
      expectSame(
        (await helperClaims(t)).scopes,
        ['git:write', 'git:read'],
        'the token must have the scopes git:write and git:read',
      ),
  },
]);

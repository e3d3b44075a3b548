import { decodeJwt } from 'jose';
import { getRepo } from '../../api/requests.js';
import { tryAdmin } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectMatch, expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import { isRecord } from '../../http/exchange.js';
import { basic } from '../../http/git-remote.js';
import { faulted, type TokenPlace } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { everyPlace, expectErrorOf, expectGitRefused, forEachPlace, ofApi } from '../token-places.js';
import { acceptsToken, readWithToken, rejectsTokens, tokenRead } from './token-checks.js';

const YEAR = 31_536_000;
/**
 * Returns the claims of a token that the emulator's admin API creates for the sample repository with default options.
 * The emulator accepts such a token.
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

export const claims = defineRules('Token claims', 'token-claims', [
  rejectsTokens('claim.iss.required', 'A token without iss is rejected.', [{ claims: { iss: null } }]),
  acceptsToken('claim.iss.organization', 'iss is the name of the organization.', {}),
  rejectsTokens(
    'claim.iss.selects-keys',
    'Only keys of the organization in iss verify a token.',
    [(_, { target }) => ({ key: 'second', claims: { iss: target.org } })],
    { reach: 'needs-setup' },
  ),
  rejectsTokens('claim.iss.unknown', 'A token whose iss is an unknown organization is rejected.', [
    { claims: { iss: 'no-such-org' } },
  ]),
  {
    id: 'claim.iss.other-tenant',
    says: 'A valid token of another organization is 403 at the address of this organization.',
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
  rejectsTokens('claim.scopes.required', 'A token without scopes is rejected.', [{ claims: { scopes: null } }]),
  rejectsTokens(
    'claim.scopes.array',
    'A token whose scopes claim is not an array is rejected.',
    [({ scope }) => ({ claims: { scopes: scope } })],
    { level: 'SHOULD' },
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
  ),
  rejectsTokens(
    'claim.repo.one',
    'A token whose repo claim is not a string is rejected.',
    [{ claims: { repo: ['a', 'b'] } }],
    {
      level: 'SHOULD',
    },
  ),
  rejectsTokens('claim.exp.expired', 'A token that expired an hour ago is rejected.', [
    (_, { seconds }) => ({ claims: { iat: seconds - 7200, exp: seconds - 3600 } }),
  ]),
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

/**
 * Expects the response to a request without a credential to be 401 with the code `unauthorized`. `place`: endpoint that
 * was requested.
 */
function expectNoCredential(place: TokenPlace, response: ApiResponse): void {
  expectErrorOf(place, response, 401, 'unauthorized');
}

export const tokenFailures = defineRules('Token failure responses', 'token-failures', [
  {
    id: 'authfail.401.no-header',
    says: 'A token outside the Authorization header is ignored: the response is 401 unauthorized.',
    writes: 'where-allowed',
    check: async (t) =>
      await forEachPlace(t, everyPlace, async ({ place, repo, askWithout }) => {
        const recipe = { repo, scopes: [place.scope] };
        const token = t.token(recipe);
        const headers = { cookie: `token=${token}; access_token=${token}` };
        for (const options of [{}, { recipe, headers }]) expectNoCredential(place, await askWithout(options));
        if (place.name !== 'repo') return;
        expectNoCredential(place, await t.get(`/api/v1/repo?access_token=${token}&token=${token}`));
      }),
  },
  {
    id: 'authfail.401.scheme-basic',
    says: 'Schemes other than Bearer are 401 unauthorized on the API.',
    writes: 'where-allowed',
    check: async (t) => {
      await forEachPlace(t, ofApi, async ({ place, repo, askWithout }) => {
        const recipe = { repo, scopes: [place.scope] };
        const token = t.token(recipe);
        for (const authorization of [basic(token), `Token ${token}`]) {
          expectNoCredential(place, await askWithout({ recipe, headers: { authorization } }));
        }
      });
    },
  },
  leftOpen(
    'authfail.401.empty-bearer',
    'The specification does not say how Bearer without a token is answered.',
    async (t) => {
      const response = await t.get('/api/v1/repo', { headers: { authorization: 'Bearer' } });
      t.observe('outcome', response);
      t.tolerate('A31', 'empty bearer', response, ['401', '403']);
    },
  ),
  {
    id: 'authfail.401.scheme-case',
    says: 'The name of the scheme is not case-sensitive.',
    level: 'SHOULD',
    check: on(sampleRepository, async (t, { name }) => {
      const authorization = `bearer ${t.token({ repo: name })}`;
      expectStatus(await t.get('/api/v1/repo', { headers: { authorization } }), 200);
    }),
  },
  leftOpen(
    'authfail.401.www-authenticate',
    'The specification does not say whether a 401 has WWW-Authenticate.',
    async (t) => t.observe('www-authenticate', (await t.get('/api/v1/repo')).header('www-authenticate') ?? 'none'),
  ),
  {
    id: 'authfail.403.invalid.detail',
    says: 'The detail for an invalid token says that the token is invalid or expired.',
    level: 'SHOULD',
    check: on(tokenRead({ defect: 'foreign-key' }), async (_t, response) => {
      expectTrue(response.status >= 400, 'the token must be refused', response.outcome);
      expectMatch(response.find('detail'), /invalid|expired/i, 'detail must say that the token is invalid or expired');
    }),
  },
  {
    id: 'authfail.403.tenant.detail',
    says: 'The detail for a token of another organization says that the token is not valid for this tenant.',
    level: 'SHOULD',
    reach: 'needs-setup',
    check: async (t) =>
      expectMatch(
        (await readWithToken(t, { key: 'second' })).find('detail'),
        /tenant/i,
        'detail must mention the tenant',
      ),
  },
  {
    id: 'authfail.403.unavailable',
    says: 'While tokens cannot be verified, every request is 403 authentication_unavailable; afterwards requests succeed again.',
    reach: 'emulator',
    check: on(faulted('repo', 'authentication_unavailable'), async (t, response) => {
      expectMatch(response.outcome, /^403 authentication_unavailable$/, 'unexpected status or code of the refusal');
      expectStatus(await readWithToken(t, {}), 200);
    }),
  },
  {
    id: 'authfail.problem-json',
    says: 'Rejected credentials are answered with problem details.',
    level: 'SHOULD',
    check: async (t) => {
      const responses = [
        await t.get('/api/v1/repo'),
        await readWithToken(t, { defect: 'foreign-key' }),
        await readWithToken(t, { claims: { repo: null } }),
      ];
      for (const response of responses)
        expectMatch(response.mediaType, /^application\/problem\+json$/, 'unexpected media type');
    },
  },
  {
    id: 'authfail.no-token-echo',
    says: 'No error repeats the rejected token.',
    level: 'SHOULD',
    watch: ({ status, token, body, headers }) => {
      if (status < 400 || token === undefined || token.length < 40) return undefined;
      const echoed = body.includes(token) || JSON.stringify(headers).includes(token);
      return echoed ? 'the response repeats the token' : true;
    },
  },
]);

import type { ApiResponse } from '../../check/api-response.js';
import { expectMatch, expectStatus, expectTrue } from '../../check/expect.js';
import { sampleRepository } from '../../fixtures/repositories.js';
import { basic } from '../../http/git-remote.js';
import { faulted, type TokenPlace } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { everyPlace, expectErrorOf, forEachPlace, ofApi, ofGit, showsNothing } from '../token-places.js';
import { conditionalHeaders } from './conditional.js';
import { refuseEverywhere } from './every-route.js';
import type { PreparedRoute } from './prepared-routes.js';
import { readWithToken, tokenRead } from './token-checks.js';

/** Names of endpoints whose request has no query, so a rule can add one. */
const WITHOUT_QUERY = ['repo', 'grep', 'archive', 'branches', 'reset', 'pack', 'notes', 'list-repos', 'meta'];

/**
 * Expects 401 with the code `unauthorized`, as for a request without a credential. `place`: endpoint that was
 * requested.
 */
function expectNoCredential(place: TokenPlace, response: ApiResponse): void {
  expectErrorOf(place, response, 401, 'unauthorized');
}

export const tokenFailures = defineRules('Token failure responses', 'token-failures', [
  {
    id: 'authfail.401.no-header',
    says: 'A token outside the Authorization header is ignored: the response is 401 unauthorized.',
    clauses: {
      cookie: 'A token in a cookie is ignored.',
      header: 'A token in another header is ignored.',
      query: 'A token in the query is ignored, also by operations whose request has no query.',
      conditional: 'A request without a token gets 401 even if it has If-None-Match or Range.',
    },
    writes: 'where-allowed',
    check: async (t) => {
      await forEachPlace(t, everyPlace, async ({ place, repo, askWithout }) => {
        const recipe = { repo, scopes: [place.scope] };
        const token = t.token(recipe);
        const headers = {
          cookie: `token=${token}; access_token=${token}`,
          'x-auth-token': token,
          'x-access-token': token,
          'x-api-key': token,
          'private-token': token,
        };
        for (const options of [{}, { recipe, headers }]) expectNoCredential(place, await askWithout(options));
        if (!WITHOUT_QUERY.includes(place.name)) return;
        expectNoCredential(place, await askWithout({ recipe, query: { access_token: token, token } }));
      });
      const isTried = ({ name }: TokenPlace) => ['file', 'repo', 'commit'].includes(name);
      await forEachPlace(t, isTried, async ({ place, ask, askWithout }) => {
        for (const headers of conditionalHeaders(await ask({})))
          expectNoCredential(place, await askWithout({ headers }));
      });
    },
  },
  {
    id: 'authfail.401.scheme-basic',
    says: 'Schemes other than Bearer are refused with 401 unauthorized on the API.',
    clauses: {
      similar: 'A scheme whose name begins or ends with Bearer is another scheme.',
      none: 'A token without a scheme is not accepted.',
      everywhere: 'Every operation refuses other schemes than Bearer, on each route of published clients.',
    },
    writes: 'where-allowed',
    check: async (t) => {
      await forEachPlace(t, ofApi, async ({ place, repo, askWithout }) => {
        const recipe = { repo, scopes: [place.scope] };
        const token = t.token(recipe);
        const ask = (authorization: string) => askWithout({ recipe, headers: { authorization } });
        for (const authorization of [basic(token), `Token ${token}`])
          expectNoCredential(place, await ask(authorization));
        if (!['repo', 'pack'].includes(place.name)) return;
        for (const scheme of ['Bearers', 'BearerToken', 'X-Bearer', 'JWT', 'Digest']) {
          expectNoCredential(place, await ask(`${scheme} ${token}`));
        }
        t.tolerate('A31', `no scheme, ${place.name}`, await ask(token), ['401', '403 forbidden']);
      });
      for (const headerOf of [basic, (token: string) => `Token ${token}`]) {
        const optionsFor = ({ repo, operation: { scopes } }: PreparedRoute) => {
          const recipe = { repo, scopes };
          return { recipe, headers: { authorization: headerOf(t.token(recipe)) } };
        };
        await refuseEverywhere(t, optionsFor, { statuses: () => ['401'] });
      }
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
      const recipe = { repo: name };
      for (const scheme of ['bearer', 'BEARER']) {
        const authorization = `${scheme} ${t.token(recipe)}`;
        expectStatus(await t.get('/api/v1/repo', { recipe, headers: { authorization } }), 200);
      }
    }),
  },
  leftOpen(
    'authfail.two-credentials',
    'The specification does not say how a request with two credentials in its Authorization header is answered.',
    sampleRepository,
    async (t, { name }) => {
      const [valid, invalid] = [t.token({ repo: name }), t.token({ repo: name, defect: 'foreign-key' })];
      const pairs = { 'valid first': [valid, invalid], 'invalid first': [invalid, valid] };
      for (const [order, tokens] of Object.entries(pairs)) {
        const authorization = tokens.map((token) => `Bearer ${token}`).join(', ');
        t.observe(order, await t.get('/api/v1/repo', { headers: { authorization } }));
      }
    },
  ),
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
    says: 'While tokens cannot be verified, every request is refused with 403 authentication_unavailable. Afterwards, requests succeed again.',
    clauses: {
      everywhere: 'Each operation of the API is refused while tokens cannot be verified.',
      git: 'A Git request is refused while tokens cannot be verified.',
    },
    writes: 'where-allowed',
    reach: 'emulator',
    check: on(faulted('repo', 'authentication_unavailable'), async (t, response) => {
      expectMatch(response.outcome, /^403 authentication_unavailable$/, 'unexpected status or code of the refusal');
      expectStatus(await readWithToken(t, {}), 200);
      const fault = 'authentication_unavailable';
      await forEachPlace(t, ofApi, async ({ place, ask }) =>
        expectErrorOf(place, await ask({}, { fault }), 403, 'authentication_unavailable'),
      );
      await forEachPlace(t, ofGit, async ({ ask }) => {
        const refused = await ask({}, { fault });
        showsNothing(refused);
        expectStatus(refused, 403, 401, 503);
      });
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

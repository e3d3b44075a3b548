import { forge } from '../../../auth/test/forge.js';
import type { Service } from '../../service.js';
import { outcome, type Probe, readAll, V1 } from './probe.js';

const BASIC = (token: string) => `Basic ${Buffer.from(`t:${token}`).toString('base64')}`;
const INFO_REFS = (repo: string) => `/${repo}.git/info/refs?service=git-upload-pack`;

/**
 * Sends the first request of a fetch. Returns its status, and true as second item if the response makes git ask for
 * another password.
 */
async function fetchWith(service: Service, repo: string, token: string): Promise<[number, boolean]> {
  const headers = { authorization: BASIC(token) };
  const { status, headers: answered } = await service.call('GET', INFO_REFS(repo), { token: null, headers });
  return [status, answered['www-authenticate']?.includes('Basic') === true];
}

/**
 * Sends a read request with a token that has these claims and this header, and is signed with an unrestricted key.
 * Returns the status and error code of the response.
 */
async function readWith(service: Service, payload: object, header: object = { typ: 'JWT' }): Promise<string> {
  const claims = { iss: service.emulator.org, sub: 's', scopes: ['git:read'], repo: 'team/app', ...payload };
  return outcome(await service.call('GET', `${V1}/commits`, { token: forge(claims, { alg: 'ES256', ...header }) }));
}

const GIT_STATUSES = { 401: [401, true], 403: [403, false], 404: [404, false] };
const LATER = 4_000_000_000;

/**
 * Probes (tests) of the variants that concern which credentials are refused, and how. A variant switches between legal
 * behaviours of the server.
 */
export const CREDENTIALS = {
  invalidToken: {
    look: (service) => readAll(service, { token: 'abc' }),
    seen: {
      403: ['403 forbidden', '403', '403 forbidden', '403 forbidden'],
      'endpoint-table': ['401 unauthorized', '401', '403 forbidden', '403 forbidden'],
      401: ['401 unauthorized', '401', '401 unauthorized', '401 unauthorized'],
    },
  },
  missingScope: {
    look: (service) => readAll(service, { scopes: ['git:write'] }),
    seen: {
      403: ['403 insufficient_scope', '403', '403 insufficient_scope', '403 insufficient_scope'],
      'endpoint-table': ['401 unauthorized', '403', '403 insufficient_scope', '403 insufficient_scope'],
    },
  },
  missingRepoClaim: {
    look: async (service) => readAll(service, { token: await service.token({ scopes: ['git:read'] }) }),
    seen: {
      400: ['400 repo_claim_missing', '400', '400 repo_claim_missing', '400 repo_claim_missing'],
      403: ['403 forbidden', '403', '403 forbidden', '403 forbidden'],
    },
  },
  orgTokenOnRepository: {
    look: async (service) => readAll(service, { token: await service.token({ scopes: ['org:read'] }) }),
    seen: {
      repo_claim_missing: ['400 repo_claim_missing', '400', '400 repo_claim_missing', '400 repo_claim_missing'],
      insufficient_scope: ['403 insufficient_scope', '403', '403 insufficient_scope', '403 insufficient_scope'],
    },
  },
  repositoryScope: {
    look: async (service) => [
      outcome(await service.call('GET', '/api/v1/repo', { scopes: ['git:write'] })),
      outcome(await service.call('GET', '/api/repos/team%2Fapp', { scopes: ['org:read', 'repo:write'] })),
      outcome(await service.call('GET', `${V1}/branches`, { scopes: ['git:write'] })),
    ],
    seen: {
      'git:read': ['403 insufficient_scope', '403 insufficient_scope', '403 insufficient_scope'],
      unauthorized: ['401 unauthorized', '401 unauthorized', '403 insufficient_scope'],
      any: ['200', '200', '403 insufficient_scope'],
    },
  },
  emptyBearer: {
    look: async (service) => {
      const empty = { token: null, headers: { authorization: 'Bearer' } };
      return [...(await readAll(service, empty)), ...(await readAll(service, { token: null }))];
    },
    seen: {
      401: Array(2).fill(['401 unauthorized', '401', '401 unauthorized', '401 unauthorized']).flat(),
      403: [
        ...['403 forbidden', '403', '403 forbidden', '403 forbidden'],
        ...['401 unauthorized', '401', '401 unauthorized', '401 unauthorized'],
      ],
    },
  },
  tokenType: {
    look: async (service) => [
      await readWith(service, {}, { typ: 'jwt' }),
      await readWith(service, {}, {}),
      await readWith(service, {}, { typ: 'at+jwt' }),
    ],
    seen: {
      required: ['200', '403 forbidden', '403 forbidden'],
      optional: ['200', '200', '403 forbidden'],
      ignored: ['200', '200', '200'],
    },
  },
  expNotAfterIat: {
    look: async (service) => [
      await readWith(service, { iat: LATER, exp: LATER }),
      await readWith(service, { iat: LATER, exp: LATER - 1 }),
      await readWith(service, { iat: LATER, exp: LATER + 1 }),
    ],
    seen: { rejected: ['403 forbidden', '403 forbidden', '200'], accepted: ['200', '200', '200'] },
  },
  missingExp: {
    look: async (service) => [await readWith(service, {}), await readWith(service, { exp: LATER })],
    seen: { accepted: ['200', '200'], rejected: ['403 forbidden', '200'] },
  },
  gitInvalidToken: {
    look: (service) => fetchWith(service, 'team/app', 'abc'),
    seen: GIT_STATUSES,
  },
  gitMissingScope: {
    look: async (service) => {
      const token = await service.token({ repo: 'team/app', scopes: ['repo:write'] });
      return fetchWith(service, 'team/app', token);
    },
    seen: GIT_STATUSES,
  },
  gitMissingRepository: {
    look: async (service) => {
      const token = await service.token({ repo: 'none' });
      return [await fetchWith(service, 'none', token), await fetchWith(service, 'team/app', token)].flat();
    },
    seen: { 401: [401, true, 404, false], 403: [403, false, 404, false], 404: [404, false, 404, false] },
  },
  gitOtherRepository: {
    look: async (service) => {
      const token = await service.token({ repo: 'none' });
      return [await fetchWith(service, 'none', token), await fetchWith(service, 'team/app', token)].flat();
    },
    seen: { 401: [404, false, 401, true], 403: [404, false, 403, false], 404: [404, false, 404, false] },
  },
} satisfies Record<string, Probe>;

import { packBody, type Service, type ServiceResponse } from '../../service.js';
import { outcome, type Probe, restore, tip, V1 } from './probe.js';

const FIELDS = ['branch', 'target_branch', 'old_sha', 'new_sha'];

/** Sends read requests one after another. Returns one text per response, with its status and error code. */
async function outcomes(
  service: Service,
  requests: readonly (readonly [string, string, object?])[],
): Promise<string[]> {
  const seen: string[] = [];
  for (const [method, target, json] of requests) seen.push(outcome(await service.call(method, target, { json })));
  return seen;
}

const commitOnto = (service: Service, metadata: object): Promise<ServiceResponse> =>
  service.call('POST', `${V1}/commit-pack`, { body: packBody({ x: 'x' }, metadata as Record<string, unknown>) });

/**
 * Probes (tests) of the variants that concern codes and members of error responses. A variant switches between legal
 * behaviours of the server.
 */
export const CODES = {
  unknownRoute: {
    look: async (service) => [
      outcome(await service.call('GET', '/api/none', { token: null })),
      outcome(await service.call('GET', '/api/none')),
    ],
    seen: {
      404: ['404 route_not_found', '404 route_not_found'],
      401: ['401 unauthorized', '404 route_not_found'],
    },
  },
  wrongMethod: {
    look: async (service) => {
      const response = await service.call('PUT', '/api/v1/repo');
      return [outcome(response), response.headers.allow, (await service.call('PUT', `${V1}/files/metadata`)).status];
    },
    seen: {
      405: ['405 method_not_allowed', 'GET, HEAD, PATCH', 405],
      404: ['404 route_not_found', undefined, 405],
    },
  },
  headFileMetadata: {
    look: async (service) => {
      const { status, text } = await service.call('HEAD', `${V1}/files/metadata`);
      return [status, text, (await service.call('POST', `${V1}/files/metadata`)).status];
    },
    seen: { 405: [405, '', 405], 200: [200, '', 405] },
  },
  headFileRange: {
    look: async (service) => {
      const part = async (range: string) => {
        const { status, headers, text } = await service.call('HEAD', `${V1}/file?path=a.txt`, { headers: { range } });
        return [status, headers['content-range'], text];
      };
      return [...(await part('bytes=0-0')), ...(await part('bytes=4096-'))];
    },
    seen: {
      200: [200, undefined, '', 200, undefined, ''],
      206: [206, 'bytes 0-0/2', '', 416, 'bytes */2', ''],
    },
  },
  restoreNoopFields: {
    look: async (service) => {
      const { json } = await restore(service, { target_commit_sha: await tip(service) });
      return FIELDS.map((name) => json.result[name]);
    },
    seen: {
      empty: ['', '', '', ''],
      null: [null, null, null, null],
      absent: [undefined, undefined, undefined, undefined],
    },
  },
  missingRef: {
    look: (service) =>
      outcomes(service, [
        ['GET', `${V1}/file?path=a.txt&ref=none`],
        ['POST', `${V1}/grep`, { query: { pattern: 'a' }, ref: 'none' }],
        ['POST', `${V1}/archive`, { ref: 'none' }],
        ['GET', `${V1}/commit?sha=none`],
      ]),
    seen: {
      ref_not_found: Array(4).fill('404 ref_not_found'),
      not_found: [...Array(3).fill('404 not_found'), '404 ref_not_found'],
      branch_not_found: [...Array(3).fill('404 branch_not_found'), '404 ref_not_found'],
    },
  },
  missingCommit: {
    look: (service) =>
      outcomes(service, [
        ['GET', `${V1}/commit?sha=none`],
        ['GET', `${V1}/file?path=a.txt&ref=none`],
      ]),
    seen: {
      ref_not_found: ['404 ref_not_found', '404 ref_not_found'],
      not_found: ['404 not_found', '404 ref_not_found'],
    },
  },
  missingFile: {
    look: (service) => outcomes(service, [['GET', `${V1}/file?path=none`]]),
    seen: { not_found: ['404 not_found'], ref_not_found: ['404 ref_not_found'] },
  },
  missingBaseBranch: {
    look: async (service) => [
      outcome(await commitOnto(service, { target_branch: 'new', base_branch: 'none' })),
      outcome(await commitOnto(service, { target_branch: 'none' })),
    ],
    seen: {
      branch_not_found: ['404 branch_not_found', '404 branch_not_found'],
      ref_not_found: ['404 ref_not_found', '404 branch_not_found'],
      not_found: ['404 not_found', '404 branch_not_found'],
    },
  },
  missingTargetBranch: {
    look: async (service) => [
      outcome(await commitOnto(service, { target_branch: 'none' })),
      outcome(await commitOnto(service, { target_branch: 'new', base_branch: 'none' })),
    ],
    seen: {
      branch_not_found: ['404 branch_not_found', '404 branch_not_found'],
      bad_request: ['400 bad_request', '404 branch_not_found'],
      conflict: ['409 conflict', '404 branch_not_found'],
    },
  },
  tagRefs: {
    look: async (service) => {
      await service.call('POST', `${V1}/tags`, { json: { name: 'v1', ref: 'main' } });
      return outcomes(service, [
        ['GET', `${V1}/files/metadata?ref=v1`],
        ['GET', `${V1}/file?path=a.txt&ref=v1`],
        ['GET', `${V1}/commit?sha=v1`],
        ['GET', `${V1}/file?path=a.txt&ref=main`],
      ]);
    },
    seen: {
      accepted: ['200', '200', '200', '200'],
      rejected: ['404', '404 ref_not_found', '200', '200'],
      'metadata-only': ['200', '404 ref_not_found', '200', '200'],
      'file-only': ['404', '200', '200', '200'],
    },
  },
  metadataRef: {
    look: async (service) => {
      const shown: unknown[] = [];
      for (const query of ['', '?ref=main', '?ref=HEAD']) {
        shown.push((await service.call('GET', `${V1}/files/metadata${query}`)).json.ref);
      }
      const sha = await tip(service);
      return shown.map((ref) => (ref === sha ? 'the commit' : ref));
    },
    seen: {
      short: ['main', 'main', 'main'],
      full: ['refs/heads/main', 'refs/heads/main', 'refs/heads/main'],
      sha: ['the commit', 'the commit', 'the commit'],
    },
  },
  resultBranch: {
    look: async (service) => {
      const { commit, result } = (await commitOnto(service, { target_branch: 'main' })).json;
      return [result.branch, result.target_branch, commit.target_branch];
    },
    seen: { short: ['main', 'main', 'main'], full: ['refs/heads/main', 'refs/heads/main', 'main'] },
  },
  linesAboveMaximum: {
    look: (service) =>
      outcomes(
        service,
        [2001, 2000].map((max_lines) => ['POST', `${V1}/grep`, { query: { pattern: 'a' }, limits: { max_lines } }]),
      ),
    seen: { clamped: ['200', '200'], rejected: ['400 bad_request', '200'] },
  },
  createStatus: {
    look: async (service) => {
      const { status, json } = await service.call('POST', '/api/repos', { repo: 'new' });
      return [status, json?.repo_name, outcome(await service.call('GET', '/api/v1/repo', { repo: 'new' }))];
    },
    seen: {
      201: [201, 'new', '200'],
      200: [200, 'new', '200'],
      202: [202, 'new', '200'],
      204: [204, undefined, '200'],
    },
  },
  duplicateRepository: {
    look: async (service) => {
      const { json } = await service.call('GET', '/api/v1/repo');
      const again = await service.call('POST', '/api/repos');
      return [outcome(again), again.json.repo_id === json.repo_id, (await service.call('GET', '/api/v1/repo')).status];
    },
    seen: { 409: ['409 conflict', false, 200], 201: ['201', true, 200], 200: ['200', true, 200] },
  },
  secondDelete: {
    look: async (service) => {
      const remove = () => service.call('DELETE', '/api/repos/team%2Fapp');
      return [outcome(await remove()), outcome(await remove()), outcome(await service.call('GET', '/api/v1/repo'))];
    },
    seen: {
      409: ['200', '409 repository_deleted', '404 repository_not_found'],
      404: ['200', '404 repository_not_found', '404 repository_not_found'],
    },
  },
} satisfies Record<string, Probe>;

import { pushBody } from '../../git/raw-push.js';
import { packBody, type ServiceResponse } from '../../service.js';
import { ADA, outcome, type Probe, READS, readAll, restore, tip, V1 } from './probe.js';

/**
 * Returns the status, body type and members of the response to a failed write, as one text. The type is `problem` for
 * problem details, which have a code. It is `json` for a plain result, which has none.
 */
function bodyOf({ status, headers, json }: ServiceResponse): string {
  const type = headers['content-type']!.includes('problem') ? 'problem' : 'json';
  return [status, type, ...['code', 'error', 'result'].filter((member) => member in json)].join(' ');
}

const PROBLEM = '409 problem code error result';
const RESULT = '409 json result';

/**
 * Probes for variants of responses. A variant is a setting that switches between legal behaviours of the server. Each
 * probe sends a request, and knows the response for each value of the variant.
 */
export const ANSWERS = {
  thawing: {
    look: (service) => readAll(service, { headers: { 'x-emulator-fault': 'repository_thawing' } }),
    seen: {
      'endpoint-table': ['409 repository_thawing', '503', '409 repository_thawing', '409 repository_thawing'],
      409: ['409 repository_thawing', '409', '409 repository_thawing', '409 repository_thawing'],
      503: ['503 service_unavailable', '503', '503 service_unavailable', '503 service_unavailable'],
    },
  },
  syncing: {
    look: async (service) => {
      const headers = { 'x-emulator-fault': 'sync_in_progress' };
      const json = { query: { pattern: 'a' } };
      return [
        ...(await readAll(service, { headers })),
        outcome(await service.call('POST', `${V1}/grep`, { headers, json })),
        outcome(await service.call('POST', `${V1}/tags`, { headers })),
      ];
    },
    seen: {
      'endpoint-table': ['200', '503', '200', '200', '503 service_unavailable', '409 sync_in_progress'],
      409: ['200', '409', '200', '200', '409 sync_in_progress', '409 sync_in_progress'],
      503: ['200', '503', '200', '200', '503 service_unavailable', '503 service_unavailable'],
    },
  },
  problemMediaType: {
    look: async (service) => [(await service.call('GET', '/api/none')).headers['content-type']],
    seen: {
      plain: ['application/problem+json'],
      profile: ['application/problem+json; profile="application/json"'],
    },
  },
  fileMetadataErrors: {
    look: async (service) => Object.keys((await service.call('GET', `${V1}/files/metadata?ref=none`)).json),
    seen: {
      'error-only': ['error'],
      problem: ['type', 'title', 'status', 'detail', 'error', 'instance', 'code'],
    },
  },
  writeFailureBody: {
    look: async (service) => {
      const sha = await tip(service);
      const expected_head_sha = 'f'.repeat(40);
      const note = () => service.call('POST', `${V1}/notes`, { json: { sha, note: 'n' } });
      await note();
      return [
        bodyOf(await restore(service, { target_commit_sha: sha, expected_head_sha })),
        bodyOf(await service.call('POST', `${V1}/commit-pack`, { body: packBody({ a: 'a' }, { expected_head_sha }) })),
        bodyOf(await note()),
      ];
    },
    seen: {
      'restore-only': [RESULT, PROBLEM, PROBLEM],
      all: [RESULT, RESULT, RESULT],
      problem: [PROBLEM, PROBLEM, PROBLEM],
    },
  },
  restoreNoop: {
    look: async (service) => {
      const { status, json } = await restore(service, { target_commit_sha: await tip(service) });
      return [status, json.commit, json.result.success];
    },
    seen: { 409: [409, null, false], 412: [412, null, false], 201: [201, null, false], 200: [200, null, false] },
  },
  archiveMissingRef: {
    look: async (service) => [outcome(await service.call('POST', `${V1}/archive`, { json: { ref: 'none' } }))],
    seen: { 404: ['404 ref_not_found'], 400: ['400 bad_request'] },
  },
  missingEphemeralRef: {
    look: async (service) => {
      const query = 'path=a.txt&ref=main&ephemeral=true';
      const metadata = await service.call('GET', `${V1}/files/metadata?${query}`);
      return [outcome(await service.call('GET', `${V1}/file?${query}`)), outcome(metadata)];
    },
    seen: {
      'endpoint-table': ['404 ref_not_found', '400'],
      404: ['404 ref_not_found', '404'],
      400: ['400 bad_request', '400'],
    },
  },
  deleteContentId: {
    look: async (service) => {
      const send = async (file: object) => {
        const metadata = { target_branch: 'main', commit_message: 'm', author: ADA, files: [file] };
        return outcome(await service.call('POST', `${V1}/commit-pack`, { body: JSON.stringify({ metadata }) }));
      };
      return [await send({ path: 'a.txt', operation: 'delete' }), await send({ path: 'b.txt' })];
    },
    seen: { required: ['400 bad_request', '400 bad_request'], optional: ['201', '400 bad_request'] },
  },
  diffBase: {
    // Add a commit to `main` after creating the branch `dev`. The response then shows whether `dev` is compared with
    // the new or the old tip of `main`.
    look: async (service) => {
      await service.call('POST', `${V1}/branches/create`, { json: { target_branch: 'dev', base_branch: 'main' } });
      await service.commit('team/app', { 'main.txt': 'm' });
      await service.commit('team/app', { 'dev.txt': 'd' }, { target_branch: 'dev' });
      const { json } = await service.call('GET', `${V1}/diff?sha=dev&base_sha=main`);
      return json.files.map((file: { path: string; state: string }) => `${file.state} ${file.path}`);
    },
    seen: { base: ['A dev.txt', 'D main.txt'], 'merge-base': ['A dev.txt'] },
  },
  customNotesRefs: {
    look: async (service) => {
      const sha = await tip(service);
      const note = (ref: string) => service.call('POST', `${V1}/notes`, { json: { sha, note: 'n', ref } });
      const list = await service.call('GET', `${V1}/notes/refs`);
      return [outcome(await note('reviews')), outcome(await note('commits')), outcome(list)];
    },
    seen: { on: ['201', '201', '200'], off: ['400 bad_request', '201', '400 bad_request'] },
  },
  afterImport: {
    look: async (service) => {
      const seed = await tip(service);
      const push = (branch: string) => {
        const commands = [{ old: '0'.repeat(40), new: seed, ref: `refs/heads/${branch}` }];
        const headers = { 'content-type': 'application/x-git-receive-pack-request' };
        return service.call('POST', '/team/app+import.git/git-receive-pack', { body: pushBody(commands), headers });
      };
      const pushed = [outcome(await push('one')), outcome(await push('two'))];
      return [...pushed, ...(await readAll(service, {}))];
    },
    seen: {
      active: ['200', '200', '200', '200', '200', '200'],
      archived: [
        '200',
        '200',
        ...['409 repository_thawing', '503', '409 repository_thawing', '409 repository_thawing'],
      ],
    },
  },
  notesStatus: {
    look: async (service) => {
      const sha = await tip(service);
      const add = await service.call('POST', `${V1}/notes`, { json: { sha, note: 'n' } });
      const append = { sha, action: 'append', note: 'n' };
      return [add.status, (await service.call('POST', `${V1}/notes`, { json: append })).status];
    },
    seen: { 201: [201, 201], 200: [200, 200] },
  },
  oversizedChunk: {
    look: async (service) => {
      const body = packBody({ large: Buffer.alloc(4 * 1024 * 1024 + 1) });
      return [outcome(await service.call('POST', `${V1}/commit-pack`, { body }))];
    },
    seen: { 400: ['400 bad_request'], 413: ['413 payload_too_large'] },
  },
  deletedRepository: {
    look: async (service) => {
      const remove = () => service.call('DELETE', '/api/repos/team%2Fapp');
      await remove();
      return [...(await readAll(service, {})), outcome(await remove())];
    },
    seen: {
      404: [
        ...READS.map(([, path]) => (path.includes('metadata') ? '404' : '404 repository_not_found')),
        '409 repository_deleted',
      ],
      409: [
        ...READS.map(([, path]) => (path.includes('metadata') ? '409' : '409 repository_deleted')),
        '409 repository_deleted',
      ],
    },
  },
  metadataPagination: {
    look: async (service) => {
      const { json } = await service.call('GET', `${V1}/files/metadata?limit=1`);
      return [json.files.length, json.has_more, typeof json.next_cursor];
    },
    seen: { never: [2, undefined, 'undefined'], 'on-request': [1, true, 'string'] },
  },
  contentType: {
    look: async (service) => {
      const headers = { 'content-type': 'text/plain' };
      const query = JSON.stringify({ query: { pattern: 'a' } });
      const seed = await tip(service);
      const body = packBody({ b: 'b' });
      return [
        outcome(await service.call('POST', `${V1}/grep`, { body: query, headers })),
        outcome(await service.call('POST', `${V1}/commit-pack`, { body, headers })),
        outcome(await restore(service, { target_commit_sha: seed }, 'text/plain')),
        // Three requests with correct media types: the documented one, none at all, and the documented one with a
        // parameter.
        outcome(await service.call('POST', `${V1}/grep`, { json: JSON.parse(query) })),
        outcome(await service.call('POST', `${V1}/commit-pack`, { body })),
        outcome(await restore(service, { target_commit_sha: seed }, 'Application/X-NDJSON; charset=utf-8')),
      ];
    },
    seen: {
      lenient: ['200', '201', '201', '200', '201', '201'],
      strict: [...Array(3).fill('415 unsupported_media_type'), '200', '201', '201'],
    },
  },
  syncBlocks: {
    look: async (service) => {
      const headers = { 'x-emulator-fault': 'sync_in_progress' };
      const body = packBody({ b: 'b' });
      return [
        ...(await readAll(service, { headers })),
        outcome(await service.call('POST', `${V1}/commit-pack`, { body, headers })),
      ];
    },
    seen: {
      writes: ['200', '503', '200', '200', '409 sync_in_progress'],
      all: ['409 sync_in_progress', '503', '409 sync_in_progress', '409 sync_in_progress', '409 sync_in_progress'],
    },
  },
} satisfies Record<string, Probe>;

import { commitFiles } from '../../api/commit-pack.js';
import { fileMetadata, reader } from '../../api/requests.js';
import { changeState, inNamespace } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectStatus } from '../../check/expect.js';
import { responseToDisconnected } from '../../check/journal.js';
import { namesLike } from '../../check/other-names.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, newRepository, sampleRepository } from '../../fixtures/repositories.js';
import { type Exchange, isRecord, jsonOf, mediaTypeOf } from '../../http/exchange.js';
import { faulted, forcedFailures } from '../documented-operations.js';
import { defineRules, leftOpen, on } from '../rule.js';
import { tokenRules } from '../token-rules.js';

const PATH = '/api/v1/repos/files/metadata';

/**
 * Returns the error body of a file metadata response. Returns undefined for other responses, and for errors that
 * occurred before routing.
 */
function errorOf(exchange: Exchange): unknown {
  if (!exchange.path.startsWith(PATH) || exchange.status < 400 || exchange.method === 'HEAD') return undefined;
  const body = jsonOf(exchange);
  if (isRecord(body) && body.code === 'rate_limited') return undefined;
  return body ?? 'no JSON';
}

/**
 * Request option that makes the client return a 429 instead of retrying. The 429 of file metadata about the size of the
 * tree may look like throttling, but waiting does not help.
 */
const SHOWS_429 = { wantsThrottling: true } as const;

/**
 * Runs a check in a namespace of the emulator (isolated state). Its repository has files that were changed by two
 * commits.
 */
function withTwoCommits(t: RuleContext, check: (inner: RuleContext, name: string) => Promise<void>): Promise<void> {
  return inNamespace(t, {}, async (inner) => {
    const { name } = await newRepository(inner);
    await commitFiles(inner, name, { 'later.txt': 'later\n' });
    await check(inner, name);
  });
}

/** Expects the status, and a message in the member `error`. An error code is not required for file metadata. */
function expectErrorOnly(response: ApiResponse, status: number): void {
  expectStatus(response, status).string('error');
}

export const fileMetadataErrors = defineRules('3. File metadata', 'file-metadata-errors', [
  {
    id: 'filemeta.err.body',
    says: 'The body of every error is an object with the string error.',
    watch: (exchange) => {
      const body = errorOf(exchange);
      if (body === undefined) return undefined;
      return (isRecord(body) && typeof body.error === 'string') || `the body is ${JSON.stringify(body).slice(0, 100)}`;
    },
    check: async (t) => {
      const response = await fileMetadata(t, (await sampleRepository(t)).name, { ref: t.uniqueName() });
      response.string('error');
      const more = Object.keys(response.record()).length > 1;
      const kinds = ['only error', 'problem details'];
      t.tolerateValue('A06', 'file metadata', more ? 'problem details' : 'only error', kinds);
    },
  },
  leftOpen(
    'filemeta.err.content-type',
    'The specification does not say which media type these errors have.',
    sampleRepository,
    async (t, { name }) =>
      t.observe('media type', mediaTypeOf((await fileMetadata(t, name, { ref: t.uniqueName() })).exchange)),
  ),
  ...tokenRules('filemeta', {
    noHeader: 'filemeta.err.401.missing',
    invalid: 'filemeta.err.401.invalid',
    scope: 'filemeta.err.403.scope',
    missingRepo: 'filemeta.err.404.repo',
  }),
  {
    id: 'filemeta.err.404.ref',
    says: 'A ref that does not exist is refused with 404.',
    clauses: { similar: 'The name of a branch in other letters, shortened or extended is another name.' },
    check: on(sampleRepository, async (t, { name }) => {
      for (const ref of [t.uniqueName(), ...namesLike(t.defaultBranch)]) {
        expectStatus(await fileMetadata(t, name, { ref }), 404);
      }
    }),
  },
  {
    id: 'filemeta.err.405',
    says: 'Methods other than GET are refused with 405.',
    writes: true,
    check: on(groupRepository, async (t, { name }) => {
      const head = await t.request('HEAD', PATH, { as: reader(name) });
      t.tolerateValue('A29', 'HEAD, file metadata', String(head.status), ['405', '200']);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        expectStatus(await t.request(method, PATH, { as: { repo: name, scopes: ['git:read', 'git:write'] } }), 405);
      }
    }),
  },
  {
    id: 'filemeta.err.408',
    says: 'A request that is canceled while the repository is prepared is logged as 408.',
    reach: 'emulator',
    check: on(sampleRepository, async (t, { name }) => {
      // This request skips the rule if no fault can be injected. The rule could not be checked then, because the
      // journal (the emulator's log of requests) records early refusals without a subject.
      await fileMetadata(t, name, {}, { fault: 'latency;ms=1' });
      // Hold the response until the client has disconnected; otherwise it might arrive before. A latch is a named fault
      // that holds the response until it is released.
      const latch = t.uniqueName().replaceAll('/', '-');
      const options = { as: reader(name), fault: `hold;latch=${latch}` };
      expectErrorOnly(await responseToDisconnected(t, 'GET', PATH, options), 408);
    }),
  },
  {
    id: 'filemeta.err.429.too-many',
    says: 'A tree whose files were last changed by too many distinct commits is refused with 429.',
    reach: 'emulator',
    writes: true,
    check: (t) =>
      withTwoCommits(t, async (inner, name) => {
        await changeState(inner, { limits: { maxMetadataCommits: 2 } });
        expectStatus(await fileMetadata(inner, name), 200);
        await changeState(inner, { limits: { maxMetadataCommits: 1 } });
        expectErrorOnly(await fileMetadata(inner, name, {}, SHOWS_429), 429);
      }),
  },
  {
    id: 'filemeta.err.429.headers',
    says: 'The specification does not say whether the 429 for too many commits has the headers of throttling.',
    level: 'UNSPECIFIED',
    reach: 'emulator',
    writes: true,
    check: (t) =>
      withTwoCommits(t, async (inner, name) => {
        await changeState(inner, { limits: { maxMetadataCommits: 1 } });
        const response = await fileMetadata(inner, name, {}, SHOWS_429);
        for (const header of ['retry-after', 'ratelimit']) t.observe(header, response.header(header) ?? 'none');
      }),
  },
  ...forcedFailures(
    'filemeta',
    [['filemeta.err.500', 'An unexpected failure is answered with 500.', 500, 'internal_error']],
    expectErrorOnly,
  ),
  {
    id: 'filemeta.err.503.thawing',
    says: 'A repository that is being restored from cold storage is answered with 503.',
    reach: 'emulator',
    check: on(faulted('filemeta', 'repository_thawing'), async (t, response) => {
      t.tolerate('A04', 'thawing, file metadata', response, ['503', '409 repository_thawing']);
      response.string('error');
    }),
  },
  {
    id: 'filemeta.err.503.syncing',
    says: 'File metadata is refused with 503 while an upstream sync of the repository runs.',
    reach: 'emulator',
    check: on(faulted('filemeta', 'sync_in_progress'), async (t, response) => {
      t.tolerate('A05', 'syncing, file metadata', response, ['503', '409 sync_in_progress']);
      response.string('error');
    }),
  },
  ...forcedFailures(
    'filemeta',
    [
      [
        'filemeta.err.503.replica',
        'A request is answered with 503 if no replica can be selected.',
        503,
        'service_unavailable',
      ],
      [
        'filemeta.err.503.storage',
        'A request is answered with 503 if storage is unavailable.',
        503,
        'service_unavailable',
      ],
    ],
    expectErrorOnly,
  ),
]);

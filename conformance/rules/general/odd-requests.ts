import { archive, createRepo, getFile, grep, reader } from '../../api/requests.js';
import { expectOneOf, expectRefused } from '../../check/expect.js';
import { sampleFile } from '../../fixtures/content.js';
import { groupRepository, reserveName } from '../../fixtures/repositories.js';
import { routeOf } from '../companion/call-operation.js';
import type { Operation } from '../companion/operation.js';
import { OPERATIONS } from '../companion/operations.js';
import { FAMILIES } from '../companion/test-repository.js';
import { defineRules, leftOpen, on } from '../rule.js';

/** Search bodies with a member of the wrong type. The specification lists no error for them. */
const ODD_SEARCHES = [
  { ref: 5 },
  { paths: 'README.md' },
  { paths: [5] },
  { file_filters: { include_globs: '*.md' } },
  { file_filters: [] },
  { context: { before: '1' } },
  { limits: { max_lines: '5' } },
  { pagination: { limit: 'x' } },
  { pagination: { cursor: 5 } },
  { query: { pattern: 'e', case_sensitive: 'false' } },
];

/** Archive request bodies with a member of the wrong type. The specification lists no error for them. */
const ODD_ARCHIVES = [{ ref: 5 }, { include_globs: '*.md' }, { exclude_globs: [5] }, { archive: 'p' }];

/** Queries in which a parameter is repeated or empty. `route` is the last part of the path. */
const ODD_QUERIES: readonly (readonly [route: string, query: (path: string) => Record<string, string | string[]>])[] = [
  ['commit', () => ({ sha: ['HEAD', 'HEAD'] })],
  ['file', (path) => ({ path: [path, path] })],
  ['file', (path) => ({ path, ref: ['HEAD', 'HEAD'] })],
  ['file', (path) => ({ path, ephemeral: '' })],
  ['files/metadata', () => ({ ref: ['HEAD', 'HEAD'] })],
  ['files/metadata', () => ({ ephemeral: ['false', 'false'] })],
  ['commits', () => ({ limit: '' })],
  ['commits', () => ({ limit: ['1', '2'] })],
  ['commits', () => ({ cursor: '' })],
];

/**
 * Returns true if requests to an operation have a body. Operations with an optional body are left out. A service may
 * ignore such a body, and one of these operations deletes the repository.
 */
const takesBody = ({ method, name }: Operation): boolean =>
  !['GET', 'HEAD'].includes(method) && !['archive', 'delete repository', 'detach base', 'pull upstream'].includes(name);

export const oddRequests = defineRules('Endpoints', 'odd-requests', [
  leftOpen(
    'general.body.types',
    'The specification does not say how members of the wrong type in a search or in a request for an archive are treated.',
    sampleFile,
    async (t, { name }) => {
      for (const body of ODD_SEARCHES)
        t.observe(`grep ${JSON.stringify(body)}`, await grep(t, name, { query: { pattern: 'e' }, ...body }));
      for (const body of ODD_ARCHIVES) t.observe(`archive ${JSON.stringify(body)}`, await archive(t, name, body));
    },
  ),
  {
    id: 'general.body.create',
    says: 'The specification does not say how an invalid body of a request that creates a repository is refused.',
    level: 'UNSPECIFIED',
    writes: true,
    check: on(reserveName, async (t, name) => {
      for (const body of ['{', '[]', '5']) {
        const response = await createRepo(t, name, { body });
        t.observe(body, response);
        if (response.status > 299) expectRefused(response);
      }
    }),
  },
  {
    id: 'general.body.companion',
    says: 'Some operations are only named by the specification. It does not say how they refuse an invalid body.',
    level: 'UNSPECIFIED',
    reach: 'needs-setup',
    writes: true,
    check: on(groupRepository, async (t, { name }) => {
      t.needsCompanion();
      for (const operation of OPERATIONS.filter(takesBody)) {
        const outcomes: string[] = [];
        for (const family of FAMILIES) {
          const path = routeOf(operation, family, name, { tag: 'none', id: 'none' });
          if (path === undefined) continue;
          const as = { repo: name, scopes: operation.scopes };
          const response = await t.request(operation.method, path, { as, body: '{' });
          expectRefused(response);
          outcomes.push(response.outcome);
        }
        t.observe(operation.name, outcomes);
      }
    }),
  },
  leftOpen(
    'general.query.odd',
    'The specification does not say how query parameters that are empty or sent twice are treated.',
    sampleFile,
    async (t, { name, path }) => {
      for (const [route, queryOf] of ODD_QUERIES) {
        const query = queryOf(path);
        const response = await t.get(`/api/v1/repos/${route}`, { as: reader(name), query });
        const names = Object.entries(query).filter(([, value]) => value === '' || Array.isArray(value));
        t.observe(`${route} ${names.map(([one, value]) => `${one} ${value === '' ? 'empty' : 'twice'}`)}`, response);
        expectOneOf(response.status, [200, 400, 404, 422], 'the request must be answered or refused');
      }
      const odd = await getFile(t, name, { path, ephemeral: 'maybe' });
      t.observe('file, ephemeral maybe', odd);
      expectOneOf(odd.status, [200, 400, 404, 422], 'the request must be answered or refused');
    },
  ),
]);

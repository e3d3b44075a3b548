import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { OPERATION_IDS } from '../config/operation-ids.js';
import { runSync } from '../schedule/steps.js';
import { operations } from './index.js';
import { writeOpenApi } from './openapi.js';

const document = runSync(writeOpenApi(operations, 'http://127.0.0.1:8080'));

t.test('every operation id has one row', async (t) => {
  t.same(operations.map(({ id }) => id).sort(), [...OPERATION_IDS].sort());
});

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const result = await new Validator().validate(structuredClone(document));
  t.ok(result.valid, JSON.stringify(result.errors, null, 2));
});

t.test('every route of every operation is in the document exactly once', async (t) => {
  const paths = document.paths as Record<string, Record<string, { operationId: string }>>;
  const ids = new Set<string>();
  for (const operation of operations) {
    for (const route of operation.routes) {
      const shown = paths[route.path]?.[route.method.toLowerCase()];
      t.ok(shown, `${route.method} ${route.path}`);
      ids.add(shown!.operationId);
    }
  }
  t.equal(ids.size, operations.flatMap(({ routes }) => routes).length, 'operation ids are unique');
});

t.test('every path parameter is declared, and the schemas show what requests need', async (t) => {
  const paths = document.paths as Record<string, Record<string, Record<string, never[]>>>;
  const file = paths['/api/v1/repos/file']!.get!;
  t.match(file.parameters, [{ name: 'path', in: 'query', required: true, schema: { type: 'string' } }]);
  const grep = paths['/api/v1/repos/grep']!.post! as unknown as { requestBody: { required: boolean; content: object } };
  t.equal(grep.requestBody.required, true);
  t.match(grep.requestBody.content, { 'application/json': { schema: { required: ['query'] } } });
  const archive = paths['/api/v1/repos/archive']!.post! as unknown as { requestBody: { required: boolean } };
  t.equal(archive.requestBody.required, false, 'archive takes no body at all');
});

t.test('every list with a cursor documents next_cursor and has_more', async (t) => {
  type Shown = {
    parameters?: { name: string }[];
    responses: Record<string, { content?: Record<string, { schema: { properties: object } }> }>;
  };
  const paths = document.paths as unknown as Record<string, Record<string, Shown>>;
  const lists = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods)
      .filter(({ parameters }) => parameters?.some(({ name }) => name === 'cursor'))
      // Exclude two kinds of lists. File metadata has pages only with a variant (optional behaviour of the service).
      // Git LFS defines other members for the next page of locks.
      .filter(() => !/\/(metadata|locks)$/.test(path))
      .map(({ responses }) => ({ path, properties: responses[200]?.content?.['application/json']?.schema.properties })),
  );
  t.ok(lists.length >= 6, `${lists.length} lists`);
  for (const { path, properties } of lists) t.match(properties, { next_cursor: {}, has_more: {} }, path);
});

t.test('every operation documents the errors that are raised before its handler runs', async (t) => {
  const paths = document.paths as Record<
    string,
    Record<string, { responses: Record<string, { description: string }> }>
  >;
  const refusals = {
    400: ['bad_request', 'repo_claim_missing'],
    401: ['unauthorized'],
    403: ['forbidden', 'authentication_unavailable', 'insufficient_scope'],
    429: ['rate_limited'],
  };
  for (const { routes } of operations) {
    for (const { path, method } of routes) {
      const { responses } = paths[path]![method.toLowerCase()]!;
      for (const [status, codes] of Object.entries(refusals)) {
        const description = responses[status]?.description ?? '';
        const missing = codes.filter((code) => !description.includes(`\`${code}\``));
        t.same(missing, [], `${method} ${path}: ${status}`);
      }
      t.notMatch(responses[404]?.description ?? '', /route_not_found/, 'the route was found');
    }
  }
});

import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { type ProblemCode, problemCodes, shownCode } from '../http/problem.js';
import type { Route } from '../http/route.js';
import type { Operation } from '../operation/operation.js';
import type { Steps } from '../schedule/steps.js';
import { errorCodesOf } from './error-codes.js';

type Json = Record<string, unknown>;

/**
 * Cost of describing one operation, in work units of `Meter`. The meter counts work to know when to yield to the event
 * loop.
 */
const OPERATION_UNITS = 500;

/**
 * Creates the OpenAPI 3.1 document of the API from the table of its operations. Yields after each operation, because
 * the whole document takes 50 ms. `forgePrefix` is the prefix of the error codes about other hosting services.
 */
export function* writeOpenApi(operations: readonly Operation[], serverUrl: string, forgePrefix = 'forge'): Steps<Json> {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    yield OPERATION_UNITS;
    for (const [index, route] of operation.routes.entries()) {
      const item = paths[route.path] ?? {};
      paths[route.path] = item;
      item[route.method.toLowerCase()] = writeOperation(operation, route, index, forgePrefix);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Repository hosting service',
      version: '1.0.0',
      description: 'Hosts Git repositories: an HTTP API and Git over HTTPS, with JWTs signed by the customer.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(operations.map(({ group }) => group))].map((name) => ({ name })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        git: { type: 'http', scheme: 'basic', description: 'User name t, the JWT as password.' },
      },
      schemas: { Problem: problemSchema(forgePrefix), Error: errorSchema() },
    },
  };
}

function writeOperation(operation: Operation, route: Route, index: number, forgePrefix: string): Json {
  const isAlias = index > 0 && route.path.startsWith('/api/v1/');
  return {
    operationId: index === 0 ? operation.id : `${operation.id}${index + 1}`,
    tags: [operation.group],
    summary: operation.summary,
    description: `Needs ${operation.scopes.map((scope) => `\`${scope}\``).join(' and ')}.`,
    ...(isAlias ? { deprecated: true } : {}),
    ...(operation.group === 'Git' ? { security: [{ git: [] }, { token: [] }] } : {}),
    parameters: [...pathParameters(route), ...queryParameters(operation)],
    ...requestBody(operation),
    responses: responses(operation, forgePrefix),
  };
}

export function pathParameters({ path }: { readonly path: string }): Json[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'URL-encoded, so that it is one path segment.',
    schema: { type: 'string' },
  }));
}

export function queryParameters({ query }: { readonly query?: z.ZodType | undefined }): Json[] {
  if (!query) return [];
  const schema = inputSchema(query) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: 'query',
    required: schema.required?.includes(name) ?? false,
    schema: property,
  }));
}

function requestBody(operation: Operation): Json {
  if (operation.group === 'Git' && operation.reads === 'stream') {
    return { requestBody: { content: { [operation.consumes ?? gitType(operation, 'request')]: binary() } } };
  }
  if (operation.reads === 'stream') {
    return { requestBody: { required: true, content: { 'application/x-ndjson': { schema: { type: 'string' } } } } };
  }
  if (!operation.body) return {};
  const required = !operation.body.safeParse(undefined).success;
  return { requestBody: { required, content: { [jsonTypeOf(operation)]: { schema: inputSchema(operation.body) } } } };
}

function responses(operation: Operation, forgePrefix: string): Json {
  return writeResponses(operation.replies, errorCodesOf(operation), {
    forgePrefix,
    replyContent: (reply) => replyContent(operation, reply),
    errorContent: (status) => errorContent(operation, status),
  });
}

interface ResponseParts {
  readonly forgePrefix: string;
  readonly replyContent: (reply: z.ZodType | string) => Json;
  readonly errorContent: (status: number) => Json;
}

/**
 * Returns the member `responses` of an operation or admin route in the OpenAPI document. It has the successful
 * responses, and one response for each status of the error codes.
 */
export function writeResponses(
  replies: Operation['replies'],
  codes: ReadonlySet<ProblemCode>,
  { forgePrefix, replyContent, errorContent }: ResponseParts,
): Json {
  const responses: Record<string, Json> = {};
  for (const [status, reply] of Object.entries(replies)) {
    responses[status] = { description: STATUS_CODES[status] ?? 'Success', ...(reply !== '' && replyContent(reply)) };
  }
  const known = problemCodes().filter(({ code }) => codes.has(code));
  for (const status of new Set(known.map((row) => row.status))) {
    const names = known.filter((row) => row.status === status).map(({ code }) => `\`${shownCode(code, forgePrefix)}\``);
    responses[status] ??= { description: `${STATUS_CODES[status]}: ${names.join(', ')}`, ...errorContent(status) };
  }
  return responses;
}

/**
 * Returns the member `content` of a response in the OpenAPI document. `reply` is the schema of a JSON body, or the
 * media type of another body.
 */
function replyContent(operation: Operation, reply: z.ZodType | string): Json {
  if (typeof reply === 'string') return { content: { [reply]: binary() } };
  const schema = z.toJSONSchema(reply, { io: 'output', unrepresentable: 'any' });
  return { content: { [jsonTypeOf(operation)]: { schema } } };
}

function errorContent({ dialect = 'problem' }: Operation, status: number): Json {
  if (dialect === 'git') return { content: { 'text/plain': { schema: { type: 'string' } } } };
  if (dialect === 'lfs') return { content: { 'application/vnd.git-lfs+json': { schema: lfsErrorSchema() } } };
  const isShort = dialect === 'error' && status !== 429;
  const [type, name] = isShort ? ['application/json', 'Error'] : ['application/problem+json', 'Problem'];
  return { content: { [type]: { schema: { $ref: `#/components/schemas/${name}` } } } };
}

function gitType(operation: Operation, kind: 'request' | 'result'): string {
  return `application/x-${operation.routes[0]!.path.split('/').at(-1)}-${kind}`;
}

function jsonTypeOf({ json }: Operation): string {
  return json?.mediaType ?? 'application/json';
}

function binary(): Json {
  return { schema: { type: 'string', contentEncoding: 'binary' } };
}

export function inputSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
  return rest;
}

function problemSchema(forgePrefix: string): Json {
  return {
    type: 'object',
    description: 'Problem details (RFC 9457). Branch on `code`.',
    required: ['type', 'title', 'status', 'detail', 'error', 'instance', 'code'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      error: { type: 'string', description: 'Mirrors `detail`.' },
      instance: { type: 'string' },
      code: { type: 'string', examples: problemCodes().map(({ code }) => shownCode(code, forgePrefix)) },
    },
  };
}

function lfsErrorSchema(): Json {
  return {
    type: 'object',
    required: ['message'],
    properties: {
      message: { type: 'string' },
      documentation_url: { type: 'string' },
      request_id: { type: 'string' },
    },
  };
}

function errorSchema(): Json {
  return {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'string' } },
    additionalProperties: false,
  };
}

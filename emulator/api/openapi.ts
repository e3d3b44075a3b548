import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { problemCodes } from '../http/problem.js';
import type { Route } from '../http/route.js';
import type { Operation } from '../operation.js';

type Json = Record<string, unknown>;

/** Errors of the gateway, which every operation can give. */
const GATEWAY = [401, 403, 429];
/** Errors of every operation that reads a body: it may stop arriving, be too large, or be compressed. */
const BODY = [408, 413, 415];

/**
 * The OpenAPI 3.1 document of the service, printed from the operations: what the router serves is what the
 * document shows, schemas and error tables included.
 */
export function writeOpenApi(operations: readonly Operation[], serverUrl: string): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    for (const [index, route] of operation.routes.entries()) {
      const item = paths[route.path] ?? {};
      paths[route.path] = item;
      item[route.method.toLowerCase()] = writeOperation(operation, route, index);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Repository hosting service',
      version: '1.0.0',
      description: 'Git repositories over an HTTP API and Git over HTTPS, with JWTs signed by the customer.',
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
      schemas: { Problem: problemSchema(), Error: errorSchema() },
    },
  };
}

function writeOperation(operation: Operation, route: Route, index: number): Json {
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
    responses: responses(operation),
  };
}

function pathParameters(route: Route): Json[] {
  return Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'URL-encoded so that it fills one path segment.',
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: Operation): Json[] {
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
    return { requestBody: { content: { [gitType(operation, 'request')]: binary() } } };
  }
  if (operation.reads === 'stream') {
    return { requestBody: { required: true, content: { 'application/x-ndjson': { schema: { type: 'string' } } } } };
  }
  if (!operation.body) return {};
  const required = !operation.body.safeParse(undefined).success;
  return { requestBody: { required, content: { 'application/json': { schema: inputSchema(operation.body) } } } };
}

function responses(operation: Operation): Json {
  const answers: Record<string, Json> = {};
  for (const [status, reply] of Object.entries(operation.replies)) {
    answers[status] = { description: STATUS_CODES[status] ?? 'Success', ...replyContent(reply) };
  }
  const errors = new Set([...operation.errors, ...GATEWAY, ...(operation.reads === undefined ? [] : BODY)]);
  for (const status of [...errors].sort()) {
    answers[status] ??= { description: describe(status), ...errorContent(operation, status) };
  }
  return answers;
}

/** A schema is JSON, a media type is bytes, and an empty one says that there is no body. */
function replyContent(reply: z.ZodType | string): Json {
  if (reply === '') return {};
  if (typeof reply === 'string') return { content: { [reply]: binary() } };
  const schema = z.toJSONSchema(reply, { io: 'output', unrepresentable: 'any' });
  return { content: { 'application/json': { schema } } };
}

/** The status text, and the codes that come with the status. */
function describe(status: number): string {
  const codes = problemCodes().filter((row) => row.status === status);
  const names = codes.map(({ code }) => `\`${code}\``).join(', ');
  return `${STATUS_CODES[status] ?? 'Error'}${names ? `: ${names}` : ''}`;
}

function errorContent({ dialect = 'problem' }: Operation, status: number): Json {
  // Answers to preconditions and ranges have no body (RFC 9110).
  if ([304, 412, 416].includes(status)) return {};
  if (dialect === 'git') return { content: { 'text/plain': { schema: { type: 'string' } } } };
  const isShort = dialect === 'error' && status !== 429;
  const [type, name] = isShort ? ['application/json', 'Error'] : ['application/problem+json', 'Problem'];
  return { content: { [type]: { schema: { $ref: `#/components/schemas/${name}` } } } };
}

function gitType(operation: Operation, kind: 'request' | 'result'): string {
  return `application/x-${operation.routes[0]!.path.split('/').at(-1)}-${kind}`;
}

function binary(): Json {
  return { schema: { type: 'string', contentEncoding: 'binary' } };
}

function inputSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
  return rest;
}

function problemSchema(): Json {
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
      code: { type: 'string', examples: problemCodes().map(({ code }) => code) },
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

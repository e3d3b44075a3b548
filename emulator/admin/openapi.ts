import { z } from 'zod';
import { inputSchema, pathParameters, queryParameters, writeOpenApi, writeResponses } from '../api/openapi.js';
import type { ProblemCode } from '../http/problem.js';
import { Meter } from '../schedule/meter.js';
import { runYielding, type Steps } from '../schedule/steps.js';
import { ADMIN_PREFIX } from './path.js';
import type { AdminContext, AdminRoute } from './route.js';

type Json = Record<string, unknown>;

const TAG = 'Emulator';
const SECURITY = 'admin';

/**
 * Error codes that every admin route can return. They come from the access check (`guard.ts`) and from parsing
 * (`input.ts`). Routes with a body can also return `BODY_CODES`.
 */
const COMMON_CODES: readonly ProblemCode[] = ['bad_request', 'forbidden', 'unsupported_media_type'];
const BODY_CODES: readonly ProblemCode[] = ['request_timeout', 'payload_too_large'];

/**
 * Returns the OpenAPI document of the API and the admin routes. The two buffers are the bytes before and after the
 * server's address, because only the address differs between requests.
 */
export async function writeDocument({
  operations,
  current,
  routes,
}: Pick<AdminContext, 'operations' | 'current' | 'routes'>): Promise<readonly [Buffer, Buffer]> {
  // A new meter is used, not the meter of the request. Other requests may wait for the same document, so it must be
  // completed even if this request is aborted. A meter counts work to know when to yield to the event loop.
  const meter = new Meter({ schedule: current.engine.schedule });
  const service = await runYielding(writeOpenApi(operations, '', current.config.forgePrefix), meter);
  const document = await runYielding(withAdminPaths(service, await routes()), meter);
  const text = JSON.stringify(document);
  const at = text.indexOf(NO_ADDRESS) + NO_ADDRESS.length;
  return [Buffer.from(text.slice(0, at - 2)), Buffer.from(text.slice(at))];
}

/**
 * Start of the member `servers` in a document that was created with an empty address. The real address is inserted
 * before the last quotation mark.
 */
const NO_ADDRESS = '"servers":[{"url":""';

/**
 * Cost of describing one route, in work units of `Meter`. The meter counts work to know when to yield to the event
 * loop.
 */
const ROUTE_UNITS = 500;

/** Returns the OpenAPI document of the API with the admin routes added. The admin routes have their own tag. */
function* withAdminPaths(document: Json, routes: readonly AdminRoute[]): Steps<Json> {
  const { paths, tags, components } = document as { paths: Json; tags: Json[]; components: Record<string, Json> };
  const added: Record<string, Json> = {};
  for (const route of routes) {
    yield ROUTE_UNITS;
    const path = ADMIN_PREFIX + route.path;
    added[path] = { ...added[path], [route.method.toLowerCase()]: writeRoute(route) };
  }
  return {
    ...document,
    tags: [...tags, { name: TAG, description: 'Admin routes of the emulator, which a deployment does not have.' }],
    paths: { ...paths, ...added },
    components: {
      ...components,
      securitySchemes: {
        ...components.securitySchemes,
        [SECURITY]: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Token of --admin-token. On loopback, the admin routes require no token unless that option is given.',
        },
      },
    },
  };
}

function writeRoute(route: AdminRoute): Json {
  const { id, summary, access, body, shownBody = body, takesYaml } = route;
  const content = body && { schema: inputSchema(shownBody!) };
  return {
    operationId: id,
    tags: [TAG],
    summary,
    security: access === 'open' ? [] : [{ [SECURITY]: [] }, {}],
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { 'application/json': content, ...(takesYaml && { 'application/yaml': content }) },
      },
    }),
    ...(route.bodyType && {
      requestBody: { required: true, content: { [route.bodyType]: { schema: { type: 'string', format: 'binary' } } } },
    }),
    responses: writeReplies(route),
  };
}

function writeReplies({ replies, errors, access, method }: AdminRoute): Json {
  const codes = new Set<ProblemCode>([...COMMON_CODES, ...errors]);
  if (access === 'token') codes.add('unauthorized');
  if (method !== 'GET') for (const code of BODY_CODES) codes.add(code);
  return writeResponses(replies, codes, { forgePrefix: 'forge', replyContent, errorContent });
}

function errorContent(): Json {
  return { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } };
}

function replyContent(reply: z.ZodType | string): Json {
  if (typeof reply === 'string') return { content: { [reply]: { schema: { type: 'string' } } } };
  const { $schema: _, ...schema } = z.toJSONSchema(reply, { io: 'output', unrepresentable: 'any' }) as Json;
  return { content: { 'application/json': { schema } } };
}

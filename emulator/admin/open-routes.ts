import { z } from 'zod';
import { packageVersion } from '../config/version.js';
import { bytes, json } from '../http/reply.js';
import { ADMIN_PREFIX, HEALTH_PATH, pathBelowAdmin } from './path.js';
import { type AdminRow, adminRoute } from './route.js';

/**
 * Admin routes that require no token. Every start of the emulator loads this module. So the response schemas are
 * getters, which create a schema only when it is first read.
 */
export const showHealth = adminRoute({
  path: pathBelowAdmin(HEALTH_PATH),
  summary: 'Report that the emulator can serve requests',
  access: 'open',
  get replies() {
    return { 200: z.object({ emulator: z.literal(true), status: z.literal('ready'), organization: z.string() }) };
  },
  handle: ({ organization }) => json(200, { emulator: true, status: 'ready', organization }),
});

export const showVersion = adminRoute({
  path: '/version',
  summary: 'Show the version of the emulator and of the API it serves',
  access: 'open',
  get replies() {
    return { 200: z.object({ emulator: z.literal(true), version: z.string(), api: z.string() }) };
  },
  handle: () => json(200, { emulator: true, version: packageVersion(), api: '1.0.0' }),
});

export const showOpenApi = adminRoute({
  path: '/openapi.json',
  summary: 'Print the OpenAPI document of the service and of the admin routes',
  access: 'open',
  get replies() {
    return { 200: z.looseObject({ openapi: z.string() }) };
  },
  handle: async (ctx) => {
    const { writeDocument } = await import('./openapi.js');
    const [head, tail] = await ctx.buildOnce('openapi', () => writeDocument(ctx));
    const origin = Buffer.from(JSON.stringify(ctx.origin));
    return bytes(200, Buffer.concat([head, origin, tail]), { 'content-type': 'application/json' });
  },
});

/** Admin routes that never require the admin token, because their responses contain nothing secret. */
export const openRoutes: readonly AdminRow[] = [showHealth, showVersion, showOpenApi];

const OPEN_PATHS: ReadonlySet<string> = new Set(openRoutes.map(({ path }) => ADMIN_PREFIX + path));

/** Returns true if a path is exactly the path of an admin route that requires no token. */
export function isOpenPath(path: string): boolean {
  return OPEN_PATHS.has(path);
}

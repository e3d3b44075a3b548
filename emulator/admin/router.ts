import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Middleware } from 'koa';
import { methodNotAllowed, problem } from '../http/problem.js';
import type { Reply } from '../http/reply.js';
import { decodeOnce, type RequestTarget } from '../http/request-target.js';
import type { Operation } from '../operation/operation.js';
import { Meter } from '../schedule/meter.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { AdminControls } from './controls.js';
import type { EventStreams } from './event-streams.js';
import { readJsonBody, readQuery } from './input.js';
import { isOpenPath, openRoutes } from './open-routes.js';
import { ADMIN_PREFIX } from './path.js';
import type { AdminContext, AdminRoute, AdminRow } from './route.js';

export interface AdminOptions {
  readonly operations: readonly Operation[];
  /** Returns the origin for the emulator's URLs in the response to a request. */
  readonly origin: (request: IncomingMessage) => string;
  readonly controls: AdminControls;
}

/** Request to an admin route that has passed the access check (`guard.ts`). */
export interface AdminRequest {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  /** Name of the organization that the `Host` header selects. */
  readonly organizationName: string;
  readonly signal: AbortSignal;
  readonly sendContinue: () => void;
}

/** Koa state of a request to the admin routes: facts about the request, and the reply from its handler. */
export interface AdminState {
  current: CurrentWorld;
  options: AdminOptions;
  admin: AdminRequest;
  streams: EventStreams;
  reply: Reply;
}

/**
 * Creates the Koa middleware of the admin routes, which only the emulator has. A route stores its reply in
 * `ctx.state.reply`, because only `writeReply` writes HTTP. Routes without a token are available at once. All others
 * are loaded at the first request to one of them, to keep the start fast. All ports share the routes.
 */
export function createAdmin(): Middleware<AdminState> {
  const built = new Map<string, unknown>();
  const buildOnce = <T>(key: string, build: () => T): T => {
    if (!built.has(key)) {
      const value = build();
      built.set(key, value);
      // A promise that rejects is removed from the cache, so that the next request builds the value again.
      if (value instanceof Promise) value.catch(() => built.delete(key));
    }
    return built.get(key) as T;
  };
  const open = routerOf(openRoutes, buildOnce);
  let others: Promise<Router<AdminState>> | undefined;
  return async (ctx) => {
    others ??= isOpenPath(ctx.path) ? undefined : loadRoutes().then((routes) => routerOf(routes, buildOnce));
    const router = isOpenPath(ctx.path) ? open : await others!;
    await router.routes()(ctx as Parameters<ReturnType<typeof router.routes>>[0], async () =>
      throwNoRoute(router, ctx),
    );
  };
}

async function loadRoutes(): Promise<readonly AdminRoute[]> {
  return (await import('./routes.js')).adminRoutes;
}

function routerOf(routes: readonly AdminRow[], buildOnce: AdminContext['buildOnce']): Router<AdminState> {
  const router = new Router<AdminState>({ strict: true, sensitive: true });
  for (const route of routes) {
    const path = ADMIN_PREFIX + route.path.replace(/\{(\w+)\}/g, ':$1');
    router.register(path, [route.method], async (ctx) => {
      ctx.state.reply = await handleRequest(route, ctx.state, ctx.captures, buildOnce);
    });
  }
  return router;
}

/** Headers of every response of the admin routes. Responses must not be cached, because they show the current state. */
export const ADMIN_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/**
 * Validates the query and body of an admin request and calls the handler of its route. `captures` are the path
 * parameters before percent-decoding.
 */
async function handleRequest(
  route: AdminRow,
  { current, options, admin, streams }: Omit<AdminState, 'reply'>,
  captures: readonly string[] | undefined,
  buildOnce: AdminContext['buildOnce'],
): Promise<Reply> {
  const { request, sendContinue } = admin;
  const { schedule } = current.engine;
  const { idleTimeout, workTimeout } = current.config.limits;
  const names = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  const params = names.map((name, at) => [name, decodeOnce(captures?.[at] ?? '', 'The path')]);
  const meter = new Meter({ schedule, limit: workTimeout, signal: () => admin.signal });
  const query = readQuery(route, admin.target.query);
  const body = await readJsonBody(route, { request, sendContinue, idleTimeout, meter });
  const context: AdminContext = {
    current,
    // The world is read after the body has arrived, because a reset may have replaced the world in the meantime.
    world: current.world,
    controls: options.controls,
    get operations() {
      return options.operations;
    },
    routes: loadRoutes,
    buildOnce,
    origin: options.origin(request),
    streams,
    organization: admin.organizationName,
    params: Object.fromEntries(params),
    query,
    body,
    request,
    sendContinue,
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    get signal() {
      return admin.signal;
    },
    meter,
  };
  return route.handle(context);
}

/**
 * Throws the error response for an unknown path or a wrong method. Otherwise Koa and its router would respond with
 * plain text.
 */
function throwNoRoute(
  router: Router<AdminState>,
  { path, method }: { readonly path: string; readonly method: string },
) {
  const methods = new Set(router.match(path, method).path.flatMap((layer) => layer.methods));
  if (methods.size === 0)
    throw problem(
      'route_not_found',
      'The admin API has no route with this path. GET /_emulator/openapi.json describes all routes.',
    );
  throw methodNotAllowed(method, [...methods].sort().join(', '));
}

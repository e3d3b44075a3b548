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
  /** What addresses start with, as the request came. */
  readonly origin: (request: IncomingMessage) => string;
  readonly controls: AdminControls;
}

/** A request that has passed the guard. */
export interface AdminRequest {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  /** The organization that `Host` selects. */
  readonly organizationName: string;
  readonly signal: AbortSignal;
  readonly askForBody: () => void;
}

/** What is known of a request when it comes to these routes, and what it is answered with. */
export interface AdminState {
  current: CurrentWorld;
  options: AdminOptions;
  admin: AdminRequest;
  streams: EventStreams;
  reply: Reply;
}

/**
 * The emulator's own routes, beside the service's: what a deployment would never answer. They leave their answer in
 * `ctx.state.reply`, for the one adapter that writes HTTP. All but the open ones are loaded when the first request to
 * one of them arrives: a start, which asks for the health, does not wait for them. Ports share them.
 */
export function createAdmin(): Middleware<AdminState> {
  const built = new Map<string, unknown>();
  const buildOnce = <T>(key: string, build: () => T): T => {
    if (!built.has(key)) {
      const value = build();
      built.set(key, value);
      // The next request tries again.
      if (value instanceof Promise) value.catch(() => built.delete(key));
    }
    return built.get(key) as T;
  };
  const open = routerOf(openRoutes, buildOnce);
  let others: Promise<Router<AdminState>> | undefined;
  return async (ctx) => {
    others ??= isOpenPath(ctx.path) ? undefined : loadRoutes().then((routes) => routerOf(routes, buildOnce));
    const router = isOpenPath(ctx.path) ? open : await others!;
    await router.routes()(ctx as Parameters<ReturnType<typeof router.routes>>[0], async () => refuseOther(router, ctx));
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
      ctx.state.reply = await answer(route, ctx.state, ctx.captures, buildOnce);
    });
  }
  return router;
}

/** What every answer has: it tells what is true now, and is read by programs. */
export const ADMIN_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** `captures`: the path parameters as they were sent. */
async function answer(
  route: AdminRow,
  { current, options, admin, streams }: Omit<AdminState, 'reply'>,
  captures: readonly string[] | undefined,
  buildOnce: AdminContext['buildOnce'],
): Promise<Reply> {
  const { request, askForBody } = admin;
  const { schedule } = current.engine;
  const { idleTimeout, workTimeout } = current.config.limits;
  const names = Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  const params = names.map((name, at) => [name, decodeOnce(captures?.[at] ?? '', 'The path')]);
  const meter = new Meter({ schedule, limit: workTimeout, signal: () => admin.signal });
  const query = readQuery(route, admin.target.query);
  const body = await readJsonBody(route, { request, askForBody, idleTimeout, meter });
  const context: AdminContext = {
    current,
    // Read after the body has arrived: the world may have been another one before.
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
    askForBody,
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

/** Wrong paths and methods, in the words of every other refusal: Koa and its router have plain text for them. */
function refuseOther(router: Router<AdminState>, { path, method }: { readonly path: string; readonly method: string }) {
  const methods = new Set(router.match(path, method).path.flatMap((layer) => layer.methods));
  if (methods.size === 0) throw problem('route_not_found', 'No route of the emulator matches the path.');
  throw methodNotAllowed(method, [...methods].sort().join(', '));
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { methodNotAllowed, problem } from '../http/problem.js';
import type { Operation } from '../operation.js';
import type { World } from '../world.js';
import { showDelivery } from './outbox.js';
import { ADMIN_PREFIX } from './path.js';

export interface AdminOptions {
  readonly operations: readonly Operation[];
  readonly origin: () => string;
}

/** Answers a request, or rejects with what is wrong with it before anything was sent. */
export type AdminRoutes = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The emulator's own routes, beside the service's: what a deployment would never answer. */
export function createAdmin(world: World, options: AdminOptions): AdminRoutes {
  const router = new Router({ prefix: ADMIN_PREFIX, strict: true, sensitive: true });
  router.get('/version', (ctx) => {
    ctx.body = { emulator: true, api: '1.0.0', seed: world.seed };
  });
  router.get('/openapi.json', async (ctx) => {
    const { writeOpenApi } = await import('../api/openapi.js');
    ctx.body = writeOpenApi(options.operations, options.origin(), world.forgePrefix);
  });
  router.get('/webhooks/outbox', (ctx) => {
    ctx.body = { deliveries: Array.from(world.outbox.deliveries(), showDelivery) };
  });
  return answering(router);
}

/** Koa would word what a route throws, a wrong path and a wrong method as plain text: the caller has its own words. */
function answering(router: Router): AdminRoutes {
  const failures = new WeakMap<IncomingMessage, unknown>();
  const app = new Koa();
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      failures.set(ctx.req, error);
      ctx.respond = false;
    }
  });
  app.use(router.routes());
  app.use((ctx) => {
    const methods = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
    if (methods.length === 0) throw problem('route_not_found', 'No route of the emulator matches the path.');
    throw methodNotAllowed(ctx.method, methods.sort().join(', '));
  });
  const answer = app.callback();
  return async (request, response) => {
    await answer(request, response);
    if (failures.has(request)) throw failures.get(request);
  };
}

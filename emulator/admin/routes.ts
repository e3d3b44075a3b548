import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { ServedHosts } from '../http/host.js';
import type { Operation } from '../operation.js';
import type { World } from '../world.js';
import { isFromPage, REFUSED } from './browser-guard.js';
import { showDelivery } from './outbox.js';

const PREFIX = '/_emulator';

export interface AdminOptions {
  readonly servedHosts: ServedHosts;
  readonly operations: readonly Operation[];
  readonly origin: () => string;
}

/** The emulator's own routes, beside the service's: what a deployment would never answer. */
export function createAdmin(world: World, options: AdminOptions): Router {
  const router = new Router({ prefix: PREFIX });
  router.use(refuseBrowsers(options.servedHosts));
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
  return router;
}

function refuseBrowsers(servedHosts: ServedHosts): Middleware {
  return async (ctx, next) => {
    if (!isFromPage(ctx.req, servedHosts)) return next();
    ctx.status = 403;
    ctx.body = REFUSED;
  };
}

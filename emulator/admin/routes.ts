import Router from '@koa/router';
import type { Middleware } from 'koa';
import { hostName, type ServedHosts } from '../http/host.js';
import type { Operation } from '../operation.js';
import type { World } from '../world.js';
import { showDelivery } from './outbox.js';

const PREFIX = '/_emulator';

export interface AdminOptions {
  readonly organization: string;
  readonly servedHosts: ServedHosts;
  readonly operations: readonly Operation[];
  readonly origin: () => string;
}

/** The emulator's own routes, beside the service's: what a deployment would never answer. */
export function createAdmin(world: World, options: AdminOptions): Middleware {
  const router = new Router({ prefix: PREFIX });
  router.use(refuseBrowsers(options.servedHosts));
  router.get('/health', (ctx) => {
    ctx.body = { emulator: true, status: 'ready', organization: options.organization };
  });
  router.get('/version', (ctx) => {
    ctx.body = { emulator: true, api: '1.0.0', seed: world.seed };
  });
  router.get('/openapi.json', async (ctx) => {
    const { writeOpenApi } = await import('../api/openapi.js');
    ctx.body = writeOpenApi(options.operations, options.origin());
  });
  router.get('/webhooks/outbox', (ctx) => {
    ctx.body = { deliveries: Array.from(world.outbox.deliveries(), showDelivery) };
  });
  const routes = router.routes() as Middleware;
  // The service's requests, nearly all there are, do not pass through the admin router at all.
  return (ctx, next) => (ctx.path.startsWith(PREFIX) ? routes(ctx, next) : next());
}

/**
 * These routes ask for no token, so a page in a browser must not reach them: it would name another host
 * (DNS rebinding) or carry the headers browsers add to what a page sends.
 */
function refuseBrowsers(servedHosts: ServedHosts): Middleware {
  return async (ctx, next) => {
    const site = ctx.get('sec-fetch-site');
    const fromPage = ctx.get('origin') !== '' || site === 'cross-site' || site === 'same-site';
    if (fromPage || !servedHosts.includes(hostName(ctx.get('host')))) {
      ctx.status = 403;
      ctx.body = { error: 'The admin routes are not for pages in a browser.' };
      return;
    }
    await next();
  };
}

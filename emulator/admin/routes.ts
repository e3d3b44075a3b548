import Router from '@koa/router';
import type { Middleware } from 'koa';
import type { World } from '../world.js';

const PREFIX = '/_emulator';

/** The emulator's own routes, beside the service's: what a deployment would never answer. */
export function createAdmin(world: World, options: { readonly organization: string }): Middleware {
  const router = new Router({ prefix: PREFIX });
  router.get('/health', (ctx) => {
    ctx.body = { emulator: true, status: 'ready', organization: options.organization };
  });
  router.get('/version', (ctx) => {
    ctx.body = { emulator: true, api: '1.0.0', seed: world.seed };
  });
  const routes = router.routes() as Middleware;
  // The service's requests, nearly all there are, do not pass through the admin router at all.
  return (ctx, next) => (ctx.path.startsWith(PREFIX) ? routes(ctx, next) : next());
}

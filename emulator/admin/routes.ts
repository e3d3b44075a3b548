import Router from '@koa/router';
import type { Middleware } from 'koa';
import { methodNotAllowed, problem } from '../http/problem.js';
import { json, type Reply } from '../http/reply.js';
import type { Operation } from '../operation/operation.js';
import type { CurrentWorld } from '../world/current-world.js';
import { showDelivery } from './outbox.js';
import { ADMIN_PREFIX, HEALTH_PATH } from './path.js';

export interface AdminOptions {
  readonly operations: readonly Operation[];
  readonly origin: () => string;
}

/** What is known of a request when it comes to these routes, and what it is answered with. */
export interface AdminState {
  /** The organization that `Host` selects. */
  organization: string;
  reply: Reply;
}

/**
 * The emulator's own routes, beside the service's: what a deployment would never answer. They leave their answer in
 * `ctx.state.reply`, for the one adapter that writes HTTP.
 */
export function createAdmin(current: CurrentWorld, options: AdminOptions): Router<AdminState> {
  const router = new Router<AdminState>({ prefix: ADMIN_PREFIX, strict: true, sensitive: true });
  router.get(HEALTH_PATH.slice(ADMIN_PREFIX.length), (ctx) => {
    ctx.state.reply = json(200, { emulator: true, status: 'ready', organization: ctx.state.organization });
  });
  router.get('/version', (ctx) => {
    ctx.state.reply = json(200, { emulator: true, api: '1.0.0', seed: current.config.seed });
  });
  router.get('/openapi.json', async (ctx) => {
    const { writeOpenApi } = await import('../api/openapi.js');
    ctx.state.reply = json(200, writeOpenApi(options.operations, options.origin(), current.config.forgePrefix));
  });
  router.get('/webhooks/outbox', (ctx) => {
    ctx.state.reply = json(200, { deliveries: Array.from(current.world.state.deliveries.all(), showDelivery) });
  });
  return router;
}

/** Wrong paths and methods, in the words of every other refusal: Koa and its router have plain text for them. */
export function refuseOthers(router: Router<AdminState>): Middleware<AdminState> {
  return (ctx) => {
    const methods = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
    if (methods.length === 0) throw problem('route_not_found', 'No route of the emulator matches the path.');
    throw methodNotAllowed(ctx.method, methods.sort().join(', '));
  };
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { answerHealth, HEALTH_PATH } from './admin/health.js';
import {
  authenticate,
  checkAuthenticationAvailable,
  checkRepositoryClaim,
  checkScope,
  comparePathWithClaim,
} from './chain/credential.js';
import { armFaults, checkRepositoryState, findRepository, takeQuota } from './chain/gate.js';
import { callHandler, readInput } from './chain/handle.js';
import { recordOutcome, renderFailure } from './chain/outcome.js';
import { matchRoute } from './chain/route.js';
import { checkHost, readTarget } from './chain/target.js';
import { Exchange, type Step } from './exchange.js';
import { FaultCounters } from './faults/counters.js';
import { AnswerBatch } from './http/answer-batch.js';
import type { ServedHosts } from './http/host.js';
import { isOriginForm } from './http/request-target.js';
import { writeReply } from './http/write-reply.js';
import type { Operation } from './operation.js';
import type { World } from './world.js';

export interface AppOptions {
  /** Every operation, API and Git. */
  readonly operations: readonly Operation[];
  /** The organization this port belongs to. */
  readonly organization: string;
  /** `http://127.0.0.1:8080`, known once the port is. */
  readonly origin: () => string;
  readonly servedHosts: ServedHosts;
  /** Whether requests may ask for faults: when the emulator is bound to loopback. */
  readonly inBandFaults: boolean;
}

/**
 * The whole way of a request, in order. A step lets it pass or throws a `Problem`; so the first step
 * that objects decides the answer, and this list is the order of checks that clients see.
 */
export function chainOf(options: Pick<AppOptions, 'operations' | 'servedHosts'>): readonly Step[] {
  return [
    readTarget,
    checkHost(options.servedHosts),
    matchRoute(options.operations),
    armFaults(new FaultCounters()),
    checkAuthenticationAvailable,
    authenticate(),
    checkRepositoryClaim,
    comparePathWithClaim,
    checkScope,
    takeQuota,
    findRepository,
    checkRepositoryState,
    readInput,
    callHandler,
  ];
}

/**
 * One port's application over a world. Requests of the service go through the chain with nothing in between;
 * the few for the emulator's own routes go to a Koa application, which the first of them loads.
 */
export function createApp(world: World, options: AppOptions): RequestListener {
  const chain = chainOf(options);
  const batch = new AnswerBatch();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    world.clock.tick();
    const exchange = new Exchange(world, options, request, response);
    try {
      for (const step of chain) {
        // Most steps are synchronous; awaiting only the others keeps the chain off the microtask queue.
        const pending = step(exchange);
        if (pending) await pending;
      }
    } catch (error) {
      exchange.reply = renderFailure(exchange, error);
    }
    recordOutcome(exchange);
    await writeReply(request, response, exchange.reply, batch, world.schedule);
  };
  const safely = (request: IncomingMessage, response: ServerResponse): void => {
    serve(request, response).catch((error: Error) => {
      world.log.write({ event: 'internal_error', stack: error.stack });
      response.destroy();
    });
  };
  let admin: Promise<RequestListener> | undefined;
  return (request, response) => {
    if (!request.url!.startsWith(ADMIN_PREFIX) || !isOriginForm(request.url!)) safely(request, response);
    else if (request.url === HEALTH_PATH) answerHealth(request, response, options);
    else {
      admin ??= loadAdmin(world, options, safely);
      void admin.then((answer) => answer(request, response));
    }
  };
}

const ADMIN_PREFIX = '/_emulator';

/** The emulator's own routes; what they do not know is left to the service. */
async function loadAdmin(world: World, options: AppOptions, serve: RequestListener): Promise<RequestListener> {
  const [{ default: Koa }, { createAdmin }] = await Promise.all([import('koa'), import('./admin/routes.js')]);
  const router = createAdmin(world, options);
  const app = new Koa();
  app.silent = true;
  app.use(router.routes()).use(router.allowedMethods());
  app.use((ctx) => {
    if (router.match(ctx.path, ctx.method).path.some(({ methods }) => methods.length > 0)) return;
    ctx.respond = false;
    serve(ctx.req, ctx.res);
  });
  return app.callback();
}

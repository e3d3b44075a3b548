import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { refusePages } from './admin/browser-guard.js';
import { HEALTH_PATH, healthOf } from './admin/health.js';
import { isAdminPath } from './admin/path.js';
import type { AdminRoutes } from './admin/routes.js';
import {
  authenticate,
  checkAuthenticationAvailable,
  checkRepositoryClaim,
  checkScope,
  comparePathWithClaim,
} from './chain/credential.js';
import { armFaults, checkRepositoryState, findRepository, takeQuota } from './chain/gate.js';
import { callHandler, readInput, readPurpose } from './chain/handle.js';
import { recordOutcome, renderFailure } from './chain/outcome.js';
import { matchRoute } from './chain/route.js';
import { checkHost, checkMessage, meetExpectation, readTarget } from './chain/target.js';
import { type EntryStep, Exchange, type Step } from './exchange.js';
import { FaultCounters } from './faults/counters.js';
import { AnswerBatch } from './http/answer-batch.js';
import type { ServedHosts } from './http/host.js';
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

/** The first part of every request's way, also of those to the emulator's own routes: what it is, and whom it names. */
export function entryOf({ servedHosts }: Pick<AppOptions, 'servedHosts'>): readonly EntryStep[] {
  return [checkMessage, readTarget, checkHost(servedHosts), meetExpectation, refusePages];
}

/**
 * The rest of the way, in order. A step lets a request pass or throws a `Problem`; so the first step
 * that objects decides the answer, and these lists are the order of checks that clients see.
 */
export function chainOf({ operations }: Pick<AppOptions, 'operations'>): readonly Step[] {
  return [
    matchRoute(operations),
    armFaults(new FaultCounters()),
    checkAuthenticationAvailable,
    authenticate(),
    checkRepositoryClaim,
    comparePathWithClaim,
    readPurpose,
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
export function createApp(world: World, options: AppOptions, loadAdmin = importAdmin): RequestListener {
  const entry = entryOf(options);
  const chain = chainOf(options);
  const batch = new AnswerBatch();
  const admin = untilLoaded(() => loadAdmin(world, options));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = new Exchange(world, options, request, response);
    try {
      for (const step of entry) step(exchange);
      const { path } = exchange.target;
      if (path === HEALTH_PATH) {
        await writeReply(request, response, healthOf(exchange), batch, world.schedule);
        return;
      }
      if (isAdminPath(path)) {
        await (await admin())(request, response);
        return;
      }
      exchange.count();
      for (const step of chain) {
        // Most steps are synchronous; awaiting only the others keeps the chain off the microtask queue.
        const pending = step(exchange);
        if (pending) await pending;
      }
    } catch (error) {
      exchange.count();
      exchange.reply = renderFailure(exchange, error);
    }
    recordOutcome(exchange);
    await writeReply(request, response, exchange.reply, batch, world.schedule);
  };
  return (request, response) => {
    serve(request, response).catch((error: Error) => {
      world.log.write({ event: 'internal_error', stack: error.stack });
      response.destroy();
    });
  };
}

async function importAdmin(world: World, options: AppOptions): Promise<AdminRoutes> {
  const { createAdmin } = await import('./admin/routes.js');
  return createAdmin(world, options);
}

/** Loads once; but what failed is tried again when it is asked for the next time. */
function untilLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return async () => {
    loading ??= load();
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
}

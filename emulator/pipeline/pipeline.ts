import type { RequestListener } from 'node:http';
import Koa, { type Middleware, type ParameterizedContext } from 'koa';
import { EventStreams } from '../admin/event-streams.js';
import type { AdminToken } from '../admin/guard.js';
import { ADMIN_HEADERS, type AdminOptions, type AdminState, createAdmin } from '../admin/router.js';
import type { ServedHosts } from '../http/host.js';
import { checkExpectation } from '../http/message.js';
import { WriteCoalescing } from '../http/write-coalescing.js';
import { writeReply } from '../http/write-reply.js';
import { stackOf } from '../log/log.js';
import type { CurrentWorld } from '../world/current-world.js';
import { perturbReply } from './adversary.js';
import { armFaults, armTokenFaults } from './arm-faults.js';
import { ConnectionNames } from './connection-names.js';
import {
  authenticate,
  checkAuthenticationAvailable,
  checkRepositoryClaim,
  checkScope,
  comparePathWithClaim,
} from './credential.js';
import { applyFaults, breakResponse, faultsAt, stallTimeout } from './fault-actions.js';
import { checkRepositoryState, findRepository } from './gate.js';
import { callHandler, readBodyForFaults, readInput, readPurpose } from './handle.js';
import { recordOutcome, renderFailure } from './outcome.js';
import { takeQuotas } from './quotas.js';
import {
  type EntryStep,
  type Listener,
  type NamedStep,
  noteStop,
  RequestContext,
  type Step,
} from './request-context.js';
import { matchRoute } from './route.js';
import { checkHost, checkMessage, concernsAdmin, type GivenHost, guardAdmin, readTarget } from './target.js';

export interface AppOptions extends AdminOptions, Omit<Listener, 'connections'> {
  readonly servedHosts: ServedHosts;
  /** Hosts that clients have built in, by name. */
  readonly givenHosts?: ReadonlyMap<string, GivenHost> | undefined;
  /** The namespace whose port this is, if it is one's. */
  readonly namespace?: string;
  /** The names of the connections to the port. */
  readonly connections?: ConnectionNames;
  /** What the admin routes ask for. */
  readonly adminToken?: AdminToken | undefined;
}

/** The first part of every request's way, also of those to the emulator's own routes: what it is, and which host it names. */
export function entryOf({
  servedHosts,
  givenHosts,
  namespace,
  adminToken,
}: Pick<AppOptions, 'servedHosts' | 'givenHosts' | 'namespace' | 'adminToken'>): readonly NamedStep<EntryStep>[] {
  return [
    { id: 'message', run: checkMessage },
    { id: 'target', run: readTarget },
    { id: 'host', run: checkHost(servedHosts, namespace, givenHosts) },
    { id: 'expectation', run: ({ request }) => checkExpectation(request) },
    { id: 'guard', run: guardAdmin(adminToken) },
  ];
}

/**
 * The rest of the way, in order. A step lets a request pass or throws a `Problem`; so the first step
 * that objects decides the answer, and these lists are the order of checks that clients see.
 */
export function chainOf({ operations }: Pick<AppOptions, 'operations'>): readonly NamedStep<Step>[] {
  return [
    { id: 'route', run: matchRoute(operations) },
    { id: 'arming', run: armFaults(operations) },
    { id: 'faults.headers', run: faultsAt('headers') },
    { id: 'authentication', run: checkAuthenticationAvailable },
    { id: 'faults.auth', run: faultsAt('auth') },
    { id: 'credential', run: authenticate },
    { id: 'token-faults', run: armTokenFaults(operations) },
    { id: 'repository-claim', run: checkRepositoryClaim },
    { id: 'path-claim', run: comparePathWithClaim },
    { id: 'purpose', run: readPurpose },
    { id: 'scope', run: checkScope },
    { id: 'body-for-faults', run: readBodyForFaults },
    { id: 'quotas', run: takeQuotas },
    { id: 'faults.quota', run: faultsAt('quota') },
    { id: 'repository', run: findRepository },
    { id: 'state', run: checkRepositoryState },
    { id: 'faults.before', run: faultsAt('before') },
    { id: 'input', run: readInput },
    { id: 'handler', run: callHandler },
  ];
}

/** What all ports have in common, whatever world is behind them. */
export interface SharedRoutes {
  readonly chain: readonly NamedStep<Step>[];
  readonly admin: Middleware<AdminState>;
}

export function shareRoutes(options: Pick<AppOptions, 'operations'>): SharedRoutes {
  return { chain: chainOf(options), admin: createAdmin() };
}

/**
 * Koa, but for the end of a response: its own adds listeners to each response and its socket, to be told of what went
 * wrong, and waits to write what a middleware has left. Here answers are written, and watched, by `writeReply`.
 */
class Application extends Koa {
  handleRequest(
    ctx: ParameterizedContext<AdminState>,
    way: (ctx: ParameterizedContext<AdminState>) => Promise<void>,
  ): Promise<void> {
    return way(ctx).catch((error: Error) => ctx.onerror(error));
  }
}

/**
 * One port's application over the current world: a Koa application whose first middleware is the way of every request. What is
 * for the service ends there; what is for the emulator's own routes goes on to their router.
 */
export function createApp(
  current: CurrentWorld,
  options: AppOptions,
  { chain, admin }: SharedRoutes = shareRoutes(options),
): RequestListener {
  const app = new Application();
  app.silent = true;
  app.use(serveRequests(current, options, chain)).use(admin);
  return app.callback();
}

/** The faults between the end of a request's way and the end of its answer, whatever that is. */
function meetResponse(context: RequestContext): void | Promise<void> {
  const head = applyResponseFaults(context, 'response.head');
  const pending = head
    ? head.then(() => applyResponseFaults(context, 'response.body'))
    : applyResponseFaults(context, 'response.body');
  return pending?.catch((error: unknown) => {
    noteStop(context, error);
    context.reply = renderFailure(context, error);
  });
}

/** Of an answer that was cut nothing is left to meet anything. */
function applyResponseFaults(context: RequestContext, stage: 'response.head' | 'response.body'): void | Promise<void> {
  return context.reply.cut === undefined ? applyFaults(context, stage) : undefined;
}

/**
 * The service writes its answers to the response itself: through `ctx.body` and `ctx.set` they would cost three times
 * what Koa costs as a whole.
 */
function serveRequests(
  current: CurrentWorld,
  options: AppOptions,
  chain: readonly NamedStep<Step>[],
): Middleware<AdminState> {
  const entry = entryOf(options);
  const writes = new WriteCoalescing();
  const streams = new EventStreams();
  const listener = { ...options, connections: options.connections ?? new ConnectionNames() };
  const { schedule, log } = current.engine;
  return async (ctx, next) => {
    try {
      const context = new RequestContext(current.world, listener, ctx.req, ctx.res);
      let step: NamedStep<unknown> | undefined;
      try {
        for (const each of entry) {
          step = each;
          each.run(context);
        }
        if (context.isForAdmin) {
          Object.assign(ctx.state, { current, options, admin: context, streams });
          await next();
          context.reply = ctx.state.reply;
        } else {
          context.count();
          for (const each of chain) {
            step = each;
            // Most steps are synchronous; awaiting only the others keeps the chain off the microtask queue.
            const pending = each.run(context);
            if (pending) await pending;
          }
        }
      } catch (error) {
        // Of some requests it has not become clear what they are for.
        if (!concernsAdmin(context)) context.count();
        noteStop(context, error, step?.id);
        context.reply = renderFailure(context, error);
      }
      const { isArmed } = context.faults;
      if (isArmed) {
        const pending = meetResponse(context);
        if (pending) await pending;
        context.reply = breakResponse(context);
      }
      const isOwn = concernsAdmin(context);
      if (context.adversary !== undefined && !isOwn) context.reply = perturbReply(context);
      const written = writeReply(ctx.req, ctx.res, context.reply, {
        writes,
        pace: schedule,
        common: isOwn ? ADMIN_HEADERS : recordOutcome(context),
        watcher: isOwn ? undefined : context,
        stallLimits: isArmed ? stallTimeout(context) : undefined,
      });
      if (written) await written;
    } catch (error) {
      log.write({ event: 'internal_error', stack: stackOf(error) });
      ctx.res.destroy();
    }
  };
}

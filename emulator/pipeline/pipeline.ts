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
import { readBodyForFaults } from './body-for-faults.js';
import { ConnectionNames } from './connection-names.js';
import { allowOrigins } from './cors.js';
import {
  authenticate,
  checkAuthenticationAvailable,
  checkRepositoryClaim,
  checkScope,
  comparePathWithClaim,
} from './credential.js';
import { applyFaults, breakResponse, faultsAt, stallTimeout } from './fault-actions.js';
import { checkRepositoryState, findRepository } from './gate.js';
import { callHandler, readInput, readPurpose } from './handle.js';
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
  /** Organization and Git address of each host with a configured name, by host name. */
  readonly givenHosts?: ReadonlyMap<string, GivenHost> | undefined;
  /**
   * Name of the namespace that the port serves; undefined for the default world. A namespace is a separate world with
   * its own state.
   */
  readonly namespace?: string;
  /** Assigns names to the port's connections. By default, each application has its own instance. */
  readonly connections?: ConnectionNames;
  /**
   * Token that the admin API requires; undefined if the admin API is open. Tests control the emulator with this API.
   */
  readonly adminToken?: AdminToken | undefined;
  /** Origins of web pages that may use the service (option `cors`). Empty by default. */
  readonly cors?: readonly string[];
}

/**
 * Returns the steps that every request passes first. They parse the request and determine its host. They also apply to
 * the admin API, with which tests control the emulator.
 */
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
 * Returns the steps that requests to the service pass, in order, after the steps of `entryOf`. A step returns normally
 * or throws a `Problem` (error response). The first step that throws determines the response, so clients can observe
 * the order.
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

/**
 * Parts that the applications of all ports can share, because they do not depend on a world (state of the emulator).
 */
export interface SharedRoutes {
  readonly chain: readonly NamedStep<Step>[];
  readonly admin: Middleware<AdminState>;
}

export function shareRoutes(options: Pick<AppOptions, 'operations'>): SharedRoutes {
  return { chain: chainOf(options), admin: createAdmin() };
}

/**
 * Koa application that does not write responses, because `writeReply` writes them and watches their ends. Koa itself
 * would add listeners to each response and its socket, and write what the middleware returned.
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
 * Creates the Koa application of one port, which serves the current world (state of the emulator). The first middleware
 * runs the pipeline for all requests, and answers the requests to the service. The admin router then handles requests
 * to the admin API.
 */
export function createApp(
  current: CurrentWorld,
  options: AppOptions,
  { chain, admin }: SharedRoutes = shareRoutes(options),
): RequestListener {
  const app = new Application();
  app.silent = true;
  if (options.cors !== undefined && options.cors.length > 0) app.use(allowOrigins(options.cors));
  app.use(serveRequests(current, options, chain)).use(admin);
  return app.callback();
}

/**
 * Applies the faults (simulated failures) of the stages `response.head` and `response.body`. Called when the response
 * is determined, before it is sent.
 */
function applyHeadAndBodyFaults(context: RequestContext): void | Promise<void> {
  const head = applyResponseFaults(context, 'response.head');
  const pending = head
    ? head.then(() => applyResponseFaults(context, 'response.body'))
    : applyResponseFaults(context, 'response.body');
  return pending?.catch((error: unknown) => {
    noteStop(context, error);
    context.reply = renderFailure(context, error);
  });
}

/**
 * Applies the faults (simulated failures) of one stage. Does nothing if an earlier fault already truncates the
 * response, because the later stages then do not happen.
 */
function applyResponseFaults(context: RequestContext, stage: 'response.head' | 'response.body'): void | Promise<void> {
  return context.reply.cut === undefined ? applyFaults(context, stage) : undefined;
}

/**
 * Returns the middleware that serves requests. It writes to the Node response directly, because `ctx.body` and
 * `ctx.set` cost three times as much as the rest of Koa.
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
            // Awaits only promises, because most steps are synchronous and each `await` costs a microtask.
            const pending = each.run(context);
            if (pending) await pending;
          }
        }
      } catch (error) {
        // Counts every failed request except those known to be for the admin API, with which tests control the
        // emulator. If a request fails before its path is known, it counts as a request to the service.
        if (!concernsAdmin(context)) context.count();
        noteStop(context, error, step?.id);
        context.reply = renderFailure(context, error);
      }
      const { isArmed } = context.faults;
      if (isArmed) {
        const pending = applyHeadAndBodyFaults(context);
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

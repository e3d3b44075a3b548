import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { type ProblemCode, problem } from '../http/problem.js';
import type { Reply } from '../http/reply.js';
import type { Method } from '../http/route.js';
import { lazy } from '../memory/lazy.js';
import type { Operation } from '../operation/operation.js';
import type { Meter } from '../schedule/meter.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { World } from '../world/world.js';
import type { AdminControls } from './controls.js';
import type { EventStreams } from './event-streams.js';

/**
 * Context that the handler of an admin route (which controls the emulator) receives. The handler returns a `Reply` or
 * throws a `Problem` (error response).
 */
export interface AdminContext<Query = unknown, Body = unknown> {
  readonly current: CurrentWorld;
  /** World (whole state of the emulator) at the start of the handler. A reset replaces the current world by another. */
  readonly world: World;
  readonly controls: AdminControls;
  /** All operations of the API that the emulator provides. */
  readonly operations: readonly Operation[];
  /** Loads all admin routes. */
  readonly routes: () => Promise<readonly AdminRoute[]>;
  /** Returns the value stored under `key`. The first request builds it. Only for values that never change. */
  readonly buildOnce: <T>(key: string, build: () => T) => T;
  /** Origin of the URLs in the response, such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Name of the organization that the `Host` header selects. */
  readonly organization: string;
  /** Path parameters by name, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Body, validated with the schema of the route. An absent body is an object without members. */
  readonly body: Body;
  /** Node.js request, for a route that reads its body itself. */
  readonly request: IncomingMessage;
  /** Sends `100 Continue` if the client waits for it before it sends the body. */
  readonly sendContinue: () => void;
  /** Returns the value of the request header with this lower-case name; undefined if absent. */
  header(name: string): string | undefined;
  /** Open event streams of the port at which the request arrived. */
  readonly streams: EventStreams;
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly meter: Meter;
}

/**
 * Definition of a route of the admin API. The router, the access check, the OpenAPI document and the tests are derived
 * from it. A request with a member that is not in the schema `query` or `body` is refused.
 */
export interface AdminRow<Query = unknown, Body = unknown> {
  readonly method: Method;
  /** Path of the route without the prefix `/_emulator`. A `{parameter}` matches one segment of the path. */
  readonly path: string;
  readonly summary: string;
  /** `open` if the route requires no admin token, `token` otherwise. */
  readonly access: 'open' | 'token';
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Media type of a body that the handler reads itself, in pieces. Absent if the body is JSON or YAML. */
  readonly bodyType?: 'application/x-tar';
  /** True if the route accepts its body also as YAML (RFC 9512), in addition to JSON. */
  readonly takesYaml?: true;
  /** Schema of the body in the OpenAPI document, in place of `body`, if the handler validates the members itself. */
  readonly shownBody?: z.ZodType;
  /**
   * Statuses of successful responses. Each has the schema of its JSON body, or the media type of another body, or an
   * empty string if there is no body.
   */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /** Error codes that the route can return in addition to those of the access check and of input validation. */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: AdminContext<Query, Body>) => Reply | Promise<Reply>;
}

/** Route with its id, which is the name under which its module exports it. */
export type AdminRoute = AdminRow & { readonly id: string };

type Defaults = 'method' | 'access' | 'errors';

/**
 * Completes the definition of a route with defaults; the compiler checks the handler against the schemas. By default,
 * `method` is GET, `access` is `token`, and `errors` is `not_found` if the path has a parameter, and empty otherwise.
 */
export function adminRoute<Query = Record<string, never>, Body = Record<string, never>>(
  row: Omit<AdminRow<Query, Body>, Defaults> & Partial<Pick<AdminRow, Defaults>>,
): AdminRow {
  const { method = 'GET', access = 'token', errors = row.path.includes('{') ? ['not_found'] : [] } = row;
  // The defaults are assigned to the given object, because copying it would evaluate the getters that create the
  // schemas of some routes on demand.
  return Object.assign(row, { method, access, errors }) as unknown as AdminRow;
}

/**
 * Schema of a member or query parameter that names an organization. Default: the organization that the `Host` header
 * selects.
 */
export const organizationName = lazy(() =>
  z.string().optional().meta({ description: 'Default: the organization that Host selects.' }),
);

/**
 * Returns `found`, the result of a search for a name in the request. Throws `not_found` if it is undefined or false.
 * `kind`, `name`: kind and name for the error message.
 */
export function requireFound<T>(found: T | undefined | false, kind: string, name: string | undefined): T {
  if (found !== undefined && found !== false) return found;
  throw problem('not_found', `The ${kind} ${JSON.stringify(name)} does not exist.`);
}

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
 * Context of a handler of an admin route. Admin routes control the emulator. The handler returns a `Reply` or throws a
 * `Problem` (error response).
 */
export interface AdminContext<Query = unknown, Body = unknown> {
  readonly current: CurrentWorld;
  /** World (state of the service) when the handler starts. A reset replaces the current world with a new world. */
  readonly world: World;
  readonly controls: AdminControls;
  /** All operations of the API that the emulator provides. */
  readonly operations: readonly Operation[];
  /** Loads all admin routes. */
  readonly routes: () => Promise<readonly AdminRoute[]>;
  /**
   * Returns the value stored under `key`. The first call builds the value. Use it only for values that never change.
   */
  readonly buildOnce: <T>(key: string, build: () => T) => T;
  /** Origin for URLs in the response, such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Name of the organization that the `Host` header selects. */
  readonly organization: string;
  /** Path parameters by name, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Body, validated with the schema of the route. An absent body is an empty object. */
  readonly body: Body;
  /** Original Node.js request, for handlers that read the body themselves. */
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
 * Definition of an admin route. The router, the access check, the OpenAPI document and the tests are derived from it. A
 * request is refused if it has a member that the schema `query` or `body` does not define.
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
  /** Media type of a body that the handler reads itself as a stream. Absent if the body is JSON or YAML. */
  readonly bodyType?: 'application/x-tar';
  /** True if the route accepts YAML (RFC 9512) in addition to JSON. */
  readonly takesYaml?: true;
  /**
   * Schema of the body for the OpenAPI document, instead of `body`. Used if the handler validates the members itself.
   */
  readonly shownBody?: z.ZodType;
  /**
   * Successful statuses of the route, with the response body of each. The value is the schema of a JSON body, the media
   * type of another body, or an empty string for no body.
   */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /** Error codes of this route. The codes of the access check and of input validation are added to them. */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: AdminContext<Query, Body>) => Reply | Promise<Reply>;
}

/** Route with its id. The id is the name under which the route is exported from its module. */
export type AdminRoute = AdminRow & { readonly id: string };

type Defaults = 'method' | 'access' | 'errors';

/**
 * Adds defaults to the definition of a route: `GET` for `method` and `token` for `access`. The default of `errors` is
 * `not_found` for a path with a parameter, otherwise empty. The compiler checks the handler against the schemas.
 */
export function adminRoute<Query = Record<string, never>, Body = Record<string, never>>(
  row: Omit<AdminRow<Query, Body>, Defaults> & Partial<Pick<AdminRow, Defaults>>,
): AdminRow {
  const { method = 'GET', access = 'token', errors = row.path.includes('{') ? ['not_found'] : [] } = row;
  // The defaults are assigned to the given object. A copy is not possible, because it would evaluate the getters with
  // which some routes create their schemas on demand.
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
 * Returns `found`, the result of a search. Throws `not_found` if `found` is undefined or false. `kind` and `name`
 * appear in the error message.
 */
export function requireFound<T>(found: T | undefined | false, kind: string, name: string | undefined): T {
  if (found !== undefined && found !== false) return found;
  throw problem('not_found', `The ${kind} ${JSON.stringify(name)} does not exist.`);
}

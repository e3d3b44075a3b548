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

/** Arguments of the handler of an admin route, which returns a `Reply` or throws a `Problem`. */
export interface AdminContext<Query = unknown, Body = unknown> {
  readonly current: CurrentWorld;
  /** World in which requests begin now. */
  readonly world: World;
  readonly controls: AdminControls;
  /** All operations of the service. */
  readonly operations: readonly Operation[];
  /** All routes of the admin API. */
  readonly routes: () => Promise<readonly AdminRoute[]>;
  /** Returns the value stored under `key`, which the first request builds. For values that never change. */
  readonly buildOnce: <T>(key: string, build: () => T) => T;
  /** Origin of the request, such as `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Organization that `Host` selects. */
  readonly organization: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Validated body. An absent body is an object without members. */
  readonly body: Body;
  /** Request itself, for a route that reads its body itself. */
  readonly request: IncomingMessage;
  /** Sends `100 Continue` if the client waits for it. */
  readonly sendContinue: () => void;
  /** Returns the request header with the lower-case name; undefined if absent. */
  header(name: string): string | undefined;
  /** Event streams of the port. */
  readonly streams: EventStreams;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly meter: Meter;
}

/**
 * Route of the admin API, from which the router, the guard, the OpenAPI document and the tests are derived. A request
 * with a member that is not in `query` or `body` is refused.
 */
export interface AdminRow<Query = unknown, Body = unknown> {
  readonly method: Method;
  /** Path after `/_emulator`; a `{parameter}` matches one segment. */
  readonly path: string;
  readonly summary: string;
  /** `open` if the route requires no token. */
  readonly access: 'open' | 'token';
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** Media type of a body that the handler reads itself, in pieces. */
  readonly bodyType?: 'application/x-tar';
  /** True if the body may also be YAML (RFC 9512). */
  readonly takesYaml?: true;
  /** Schema that the OpenAPI document shows in place of `body`, if the handler validates the members itself. */
  readonly shownBody?: z.ZodType;
  /**
   * Successful statuses, each with the schema of its JSON body, or the media type of another body; an empty string if
   * there is no body.
   */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /** Codes that the route can return in addition to those of the guard and of input. */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: AdminContext<Query, Body>) => Reply | Promise<Reply>;
}

/** Row with its id, which is the name of its export. */
export type AdminRoute = AdminRow & { readonly id: string };

type Defaults = 'method' | 'access' | 'errors';

/**
 * Completes a row; the compiler checks its handler against its schemas. By default, `method` is GET, `access` is
 * `token`, and `errors` is `not_found` if the path has a parameter, and empty otherwise.
 */
export function adminRoute<Query = Record<string, never>, Body = Record<string, never>>(
  row: Omit<AdminRow<Query, Body>, Defaults> & Partial<Pick<AdminRow, Defaults>>,
): AdminRow {
  const { method = 'GET', access = 'token', errors = row.path.includes('{') ? ['not_found'] : [] } = row;
  // Change the row itself, because a copy would create the schemas that some rows create when they are first read.
  return Object.assign(row, { method, access, errors }) as unknown as AdminRow;
}

/** Schema of a member that names an organization; if absent, the organization that `Host` selects. */
export const organizationName = lazy(() =>
  z.string().optional().meta({ description: 'Default: the organization that Host selects.' }),
);

/**
 * Returns `found`, the result of a search for a name in the request. Throws `not_found` if it is undefined or false.
 */
export function requireFound<T>(found: T | undefined | false, kind: string, name: string | undefined): T {
  if (found !== undefined && found !== false) return found;
  throw problem('not_found', `The ${kind} ${JSON.stringify(name)} does not exist.`);
}

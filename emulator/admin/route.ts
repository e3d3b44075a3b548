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

/** What the handler of an admin route is given. It answers with a `Reply` or throws a `Problem`. */
export interface AdminContext<Query = unknown, Body = unknown> {
  readonly current: CurrentWorld;
  /** The world that requests begin in now. */
  readonly world: World;
  readonly controls: AdminControls;
  /** Every operation of the service. */
  readonly operations: readonly Operation[];
  /** Every route of the admin API. */
  readonly routes: () => Promise<readonly AdminRoute[]>;
  /** Returns the value stored under `key`, built by the first request that asks for it. For values that never change. */
  readonly buildOnce: <T>(key: string, build: () => T) => T;
  /** `http://127.0.0.1:8080` */
  readonly origin: string;
  /** The organization that `Host` selects. */
  readonly organization: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** An absent body reads as an object without members. */
  readonly body: Body;
  /** For a route that reads its body itself. */
  readonly request: IncomingMessage;
  readonly askForBody: () => void;
  /** Lower-case request header, or undefined. */
  header(name: string): string | undefined;
  /** The event streams of the port. */
  readonly streams: EventStreams;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  readonly meter: Meter;
}

/**
 * One route of the admin API, as a row: router, guard, OpenAPI document and tests are read from it. What is not a member
 * of `query` or `body` is refused; without them, there are no members.
 */
export interface AdminRow<Query = unknown, Body = unknown> {
  readonly method: Method;
  /** Below `/_emulator`; a `{parameter}` fills one segment. */
  readonly path: string;
  readonly summary: string;
  /** `open`: needs no token. */
  readonly access: 'open' | 'token';
  readonly query?: z.ZodType<Query>;
  readonly body?: z.ZodType<Body>;
  /** The media type of a body that the handler reads itself, piece by piece. */
  readonly bodyType?: 'application/x-tar';
  /** True if the body may also be YAML (RFC 9512). */
  readonly takesYaml?: true;
  /** What the document shows in its place, where the handler reads the members itself. */
  readonly shownBody?: z.ZodType;
  /** Statuses that are no error, with the schema of their JSON body, or a media type for other bodies; empty: no body. */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /** Codes it can answer beside those of the guard and of input. */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: AdminContext<Query, Body>) => Reply | Promise<Reply>;
}

/** A row by its id, which is the name of its export. */
export type AdminRoute = AdminRow & { readonly id: string };

type Defaults = 'method' | 'access' | 'errors';

/**
 * Completes a row, which the compiler checks against its own schemas. Defaults: `method` is GET, `access` is `token`, and
 * `errors` is `not_found` if the path has a parameter, and else empty.
 */
export function adminRoute<Query = Record<string, never>, Body = Record<string, never>>(
  row: Omit<AdminRow<Query, Body>, Defaults> & Partial<Pick<AdminRow, Defaults>>,
): AdminRow {
  const { method = 'GET', access = 'token', errors = row.path.includes('{') ? ['not_found'] : [] } = row;
  // Not a copy: the schemas of some rows are made when they are first read.
  return Object.assign(row, { method, access, errors }) as unknown as AdminRow;
}

/** A member that names an organization; the one that `Host` selects where it is absent. */
export const organizationName = lazy(() =>
  z.string().optional().meta({ description: 'Default: the one that Host selects.' }),
);

/** Returns what was found by the name in the request. Throws `not_found` if it is undefined or false. */
export function requireFound<T>(found: T | undefined | false, kind: string, name: string | undefined): T {
  if (found !== undefined && found !== false) return found;
  throw problem('not_found', `There is no ${kind} ${JSON.stringify(name)}.`);
}

import type { z } from 'zod';
import type { Scope } from './auth/scope.js';
import type { Call } from './call.js';
import type { ProblemCode } from './http/problem.js';
import type { Reply } from './http/reply.js';
import type { Dialect, Routed } from './http/route.js';
import type { Affecting, Effect } from './repositories/lifecycle.js';

/** What the token's `repo` claim has to name before the handler runs. */
export type Subject =
  /** The repository, which has to exist: by path (must equal the claim) or, on `/api/v1`, by claim. */
  | 'repository'
  /** The repository of the claim, which need not exist: create. */
  | 'new-repository'
  /** Nothing: organization routes. A claim that is present does no harm. */
  | 'organization'
  /** Nothing that has to exist: the operation looks up what it needs inside the token's organization. */
  | 'claim';

/**
 * One operation of the service, as a row: the router, the checks, the OpenAPI document, `emulator routes`
 * and the README's table are all read from it.
 */
export interface Operation<Query = unknown, Body = unknown> extends Routed {
  /** camelCase; permanent: faults, states and the journal name operations by it. */
  readonly id: string;
  readonly group:
    | 'Repositories'
    | 'Branches'
    | 'Commits'
    | 'Files'
    | 'Tags'
    | 'Notes'
    | 'Organization'
    | 'Git'
    | 'Deployments'
    | 'Webhooks';
  readonly summary: string;
  /** Every scope that is needed, together. */
  readonly scopes: readonly Scope[];
  readonly subject: Subject;
  readonly effect: Effect;
  /** What the request only leads up to: a repository's state refuses it as it would refuse that. */
  readonly leadsTo?: (query: URLSearchParams) => Affecting | undefined;
  /** Default `problem`. */
  readonly dialect?: Dialect;
  /** Query parameters. Values arrive as strings; a key listed in `repeated` as an array of strings. */
  readonly query?: z.ZodType<Query>;
  readonly repeated?: readonly string[];
  /** `json`: parsed and checked against `body`. `stream`: the handler reads `call.stream()` itself. */
  readonly reads?: 'nothing' | 'json' | 'stream';
  readonly body?: z.ZodType<Body>;
  /** Statuses that are no error, with the schema of their JSON body, or a media type for other bodies; empty: no body. */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /** Codes the operation can answer beside `bad_request`, the gateway's, and those of its repository's state. */
  readonly errors: readonly ProblemCode[];
  readonly handle: (call: Call<Query, Body>) => Reply | Promise<Reply>;
}

/** Checks the row against its own schemas at compile time; at run time it is the row itself. */
export function operation<Query = Record<string, never>, Body = undefined>(
  row: Operation<Query, Body>,
): Operation<Query, Body> {
  return row;
}

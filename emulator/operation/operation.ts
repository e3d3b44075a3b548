import type { z } from 'zod';
import type { Claims } from '../auth/claims.js';
import type { Scope } from '../auth/scope.js';
import type { OperationId } from '../config/operation-ids.js';
import type { ProblemCode } from '../http/problem.js';
import type { Reply } from '../http/reply.js';
import type { Dialect, Method, Route, Routed } from '../http/route.js';
import type { Scheme } from '../http/scheme.js';
import { lazy } from '../memory/lazy.js';
import type { Effect } from '../repositories/lifecycle.js';
import type { Repository } from '../repositories/repository.js';
import type { Meter } from '../schedule/meter.js';
import type { GitFacts } from '../smart-http/git-facts.js';
import type { GitFaults } from '../smart-http/git-faults.js';
import type { Organization } from '../world/organizations.js';
import type { World } from '../world/world.js';

/** Meaning that the `repo` claim of the token must have before the handler runs. */
export type Subject =
  /**
   * An existing repository. A path that names a repository must equal the claim; routes on `/api/v1` take it from the
   * claim.
   */
  | 'repository'
  /** The repository of the claim, which need not exist. Used to create it. */
  | 'new-repository'
  /** No repository: organization routes ignore the claim. */
  | 'organization'
  /** Any claim. The operation looks up what it needs inside the organization of the token. */
  | 'claim';

/** Scopes and effect of a request, by which token and repository state permit or refuse it. */
export interface Purpose {
  /** Required scopes. The token needs all of them. */
  readonly scopes: readonly Scope[];
  readonly effect: Effect;
}

/** JSON with a media type other than `application/json`. Requests must name it in `Content-Type` and `Accept`. */
export interface JsonForm {
  readonly mediaType: string;
  /** Error code for a body that does not match the schema. */
  readonly invalid: ProblemCode;
}

/**
 * One operation of the service, as a row of a table. The router, the checks, the OpenAPI document, `emulator routes`
 * and the README's table read it.
 */
export interface Operation<Query = unknown, Body = unknown> extends Routed, Purpose {
  readonly id: OperationId;
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
  readonly subject: Subject;
  /** Purpose of a request whose query or body decides it. Undefined if every request has the purpose of the row. */
  readonly purposeOf?: (query: URLSearchParams, body: Body | undefined) => Purpose;
  /** Form of error responses. Default `problem`. */
  readonly dialect?: Dialect;
  /** Schema of the query. A value is a string, or an array of strings if its name is in `repeated`. */
  readonly query?: z.ZodType<Query> | undefined;
  readonly repeated?: readonly string[];
  /** `json`: the body is parsed and checked against `body`. `stream`: the handler reads `ctx.stream()`. */
  readonly reads?: 'json' | 'stream';
  readonly body?: z.ZodType<Body> | undefined;
  /**
   * Limit of CPU work: `times` (default 1) the configured limit. If absent, only a disconnect of the client ends the
   * work.
   */
  readonly work?: { readonly limit: 'searchTimeout' | 'workTimeout'; readonly times?: number };
  /** Media type of a streamed body, if the route's name does not determine it. */
  readonly consumes?: string;
  /** Form of JSON bodies and responses, if it is not plain `application/json`. */
  readonly json?: JsonForm;
  /**
   * Success statuses with the schema of their JSON body, or a media type for other bodies; an empty string for no body.
   */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /**
   * Error codes of the operation, in addition to `bad_request`, those of the gateway, and those of the repository's
   * state.
   */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: HandlerContext<Query, Body>) => Reply | Promise<Reply>;
}

/** Row without its id, which is the name of the export. */
export type OperationRow = Omit<Operation, 'id'>;

/** Members that have a default. */
type Defaults = 'scopes' | 'subject' | 'effect' | 'reads' | 'errors';

/** Operation as a module writes it. Its schemas are functions, because most processes read only a few of them. */
type Row<Query, Body> = Omit<Operation<Query, Body>, 'id' | 'group' | 'query' | 'body' | 'replies' | Defaults> &
  Partial<Pick<Operation, Defaults>> & {
    readonly query?: () => z.ZodType<Query>;
    readonly body?: () => z.ZodType<Body>;
    readonly replies: () => Operation['replies'];
  };

/** Members that all rows of a module can share. */
type Common = Partial<Pick<Operation, 'subject' | 'dialect' | 'json'>>;

/**
 * Returns a function that completes a row of a group. The compiler checks the handler against the schemas of the row.
 *
 * Defaults, in addition to `common`: `scopes` is `git:read` for GET and `git:write` otherwise, `subject` is
 * `repository`, `effect` is `write` if a scope ends with `:write` and `read` otherwise, `reads` is `json` if there is a
 * `body`, and `errors` is empty.
 */
export function operationsOf(group: Operation['group'], common: Common = {}) {
  return <Query = Record<string, never>, Body = undefined>(row: Row<Query, Body>): OperationRow => {
    const { scopes = [row.routes[0]!.method === 'GET' ? 'git:read' : 'git:write'] } = row;
    const query = row.query && lazy(row.query);
    const body = row.body && lazy(row.body);
    const replies = lazy(row.replies);
    const completed: Omit<Operation<Query, Body>, 'id'> = {
      scopes,
      group,
      subject: 'repository',
      effect: scopes.some((scope) => scope.endsWith(':write')) ? 'write' : 'read',
      ...(body && { reads: 'json' }),
      errors: [],
      ...common,
      ...row,
      get query() {
        return query?.();
      },
      get body() {
        return body?.();
      },
      get replies() {
        return replies();
      },
    };
    return completed as unknown as OperationRow;
  };
}

/**
 * Returns the two routes of a path below a repository: one names the repository in its path, the other takes it from
 * the claim.
 */
export function routesOfRepository(method: Method, path: string): readonly Route[] {
  return [
    { method, path: `/api/repos/{repo_name}/${path}` },
    { method, path: `/api/v1/repos/${path}` },
  ];
}

/** Input of a handler, which consists of values only. A handler returns a `Reply` or throws a `Problem`. */
export interface HandlerContext<Query = unknown, Body = unknown> {
  readonly world: World;
  readonly organization: Organization;
  /** Repository of the request. Throws if the subject of the operation is not `repository`. */
  readonly repository: Repository;
  /** Claims of the verified token. */
  readonly claims: Claims;
  readonly method: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Returns the value of a request header, by its name in lower case; undefined if absent. */
  header(name: string): string | undefined;
  /** Reads the request body. Throws if it exceeds `maxBytes`, pauses for too long, or the client disconnects. */
  stream(maxBytes: number): AsyncIterable<Buffer>;
  /** Adds facts about a Git request to its journal entry. */
  recordGitFacts(facts: GitFacts): void;
  /** Adds a sentence to the reasons in the journal entry of the request. */
  note(why: string): void;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Faults that the Git service must carry out; undefined for almost every request. */
  readonly gitFaults: GitFaults | undefined;
  /** Work counter for long loops. It ends them when the client disconnects, or at the limit of the operation. */
  readonly meter: Meter;
  /** Origin of Git remotes, such as `http://127.0.0.1:8080`. */
  readonly gitUrl: string;
  /** True if `gitUrl` comes from an option or a host name in the request, false if it is the address of the port. */
  readonly isGitUrlGiven: boolean;
  /** Scheme of the connection. */
  readonly scheme: Scheme;
}

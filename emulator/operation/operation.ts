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

/**
 * Kind of object to which an operation applies. It determines which `repo` claim (repository that the token is for) the
 * token must have before the handler runs.
 */
export type Subject =
  /**
   * An existing repository. On routes with a repository in the path, the path must equal the `repo` claim. On other
   * routes under `/api/v1`, the claim selects the repository.
   */
  | 'repository'
  /** The repository that the `repo` claim names. It need not exist, because the operation creates it. */
  | 'new-repository'
  /** The organization as a whole. The operation ignores the `repo` claim. */
  | 'organization'
  /** Any `repo` claim. The operation itself searches the object that it needs in the organization of the token. */
  | 'claim';

/**
 * Scopes that a request needs, and its effect. They decide whether the token and the state of the repository permit the
 * request.
 */
export interface Purpose {
  /** Scopes that the token must have, all of them. */
  readonly scopes: readonly Scope[];
  readonly effect: Effect;
}

/**
 * Form of JSON with a media type other than `application/json`. Requests must name the media type in `Content-Type` and
 * `Accept`.
 */
export interface JsonForm {
  readonly mediaType: string;
  /** Error code of the response to a body that does not match the schema of the operation. */
  readonly invalid: ProblemCode;
}

/**
 * Definition of one operation of the API. The router, the checks of a request, the OpenAPI document, the command
 * `emulator routes` and the table in the README are derived from these definitions.
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
  /**
   * Returns the required scopes and the effect of a request, if its query or body decides them. If this function is
   * undefined, `scopes` and `effect` apply to every request of the operation.
   */
  readonly purposeOf?: (query: URLSearchParams, body: Body | undefined) => Purpose;
  /** Format of error responses. Default: `problem` (RFC 9457). */
  readonly dialect?: Dialect;
  /**
   * Schema of the query parameters. The value of a parameter is a string, or an array of strings if its name is in
   * `repeated`.
   */
  readonly query?: z.ZodType<Query> | undefined;
  readonly repeated?: readonly string[];
  /**
   * Reader of the request body. `json`: the body is parsed and validated with `body`. `stream`: the handler reads it
   * itself with `ctx.stream()`.
   */
  readonly reads?: 'json' | 'stream';
  readonly body?: z.ZodType<Body> | undefined;
  /**
   * Maximum CPU work of a request: the configured limit `limit`, multiplied by `times` (default 1). If absent, the work
   * ends early only if the client disconnects.
   */
  readonly work?: { readonly limit: 'searchTimeout' | 'workTimeout'; readonly times?: number };
  /** Media type of a streamed body, if the name of the route does not determine it. */
  readonly consumes?: string;
  /** Form of JSON in bodies and responses; undefined for `application/json`. */
  readonly json?: JsonForm;
  /**
   * Successful responses by status. The value is the schema of the JSON body, the media type of another body, or an
   * empty string if there is no body.
   */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /**
   * Error codes that the operation can return, in addition to `bad_request`, the codes of the checks before the
   * handler, and those of the state of the repository.
   */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: HandlerContext<Query, Body>) => Reply | Promise<Reply>;
}

/** Definition of an operation without its id. The id is the name under which a module exports the definition. */
export type OperationRow = Omit<Operation, 'id'>;

/** Members of an operation that have a default. */
type Defaults = 'scopes' | 'subject' | 'effect' | 'reads' | 'errors';

/**
 * Operation as a module defines it. Its schemas are functions that create them on demand, because most processes need
 * only a few of them.
 */
type Row<Query, Body> = Omit<Operation<Query, Body>, 'id' | 'group' | 'query' | 'body' | 'replies' | Defaults> &
  Partial<Pick<Operation, Defaults>> & {
    readonly query?: () => z.ZodType<Query>;
    readonly body?: () => z.ZodType<Body>;
    readonly replies: () => Operation['replies'];
  };

/** Members of operations that are the same for a whole module. */
type Common = Partial<Pick<Operation, 'subject' | 'dialect' | 'json'>>;

/**
 * Returns a function that completes the definition of an operation of the group `group`. The compiler checks the
 * handler against the schemas.
 *
 * Absent members are taken from `common`, or else have these defaults: `scopes` is `git:read` for GET and `git:write`
 * otherwise, `subject` is `repository`, `effect` is `write` if a scope ends with `:write` and `read` otherwise, `reads`
 * is `json` if there is a `body`, and `errors` is empty.
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
 * Returns the two routes of an operation on a repository: with the repository in the path, and under `/api/v1`, where
 * the `repo` claim of the token selects the repository.
 */
export function routesOfRepository(method: Method, path: string): readonly Route[] {
  return [
    { method, path: `/api/repos/{repo_name}/${path}` },
    { method, path: `/api/v1/repos/${path}` },
  ];
}

/**
 * Input of the handler of an operation. It consists of values and functions, without HTTP objects. The handler returns
 * a `Reply` or throws a `Problem` (error response).
 */
export interface HandlerContext<Query = unknown, Body = unknown> {
  readonly world: World;
  readonly organization: Organization;
  /** Repository to which the request applies. Reading it throws if the subject of the operation is not `repository`. */
  readonly repository: Repository;
  /** Claims of the token of the request. Its signature has been verified. */
  readonly claims: Claims;
  readonly method: string;
  /** Path parameters by name, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Returns the value of a request header, by its name in lower case; undefined if absent. */
  header(name: string): string | undefined;
  /**
   * Yields the pieces of the request body. Throws if it exceeds `maxBytes`, pauses for too long, or the client
   * disconnects.
   */
  stream(maxBytes: number): AsyncIterable<Buffer>;
  /**
   * Adds facts about a Git fetch or push to the journal entry of the request. The journal is a log that tests can read.
   */
  recordGitFacts(facts: GitFacts): void;
  /**
   * Adds a sentence that explains the response to the journal entry of the request. The journal is a log that tests can
   * read.
   */
  note(why: string): void;
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /**
   * Faults (configured failures for tests) that the Git service must cause during this request; undefined for almost
   * every request.
   */
  readonly gitFaults: GitFaults | undefined;
  /**
   * Meter (counts the CPU work of the request) for long loops. It says when to yield, and throws when the client has
   * disconnected or the work limit of the operation is exceeded.
   */
  readonly meter: Meter;
  /** Origin of the URLs of Git remotes, such as `http://127.0.0.1:8080`. */
  readonly gitUrl: string;
  /**
   * True if `gitUrl` comes from an option or from the host name in the request; false if it is the address of the port
   * at which the request arrived.
   */
  readonly isGitUrlGiven: boolean;
  /** Scheme of the connection: `http` or `https`. */
  readonly scheme: Scheme;
}

import type { z } from 'zod';
import type { Claims } from '../auth/claims.js';
import type { Scope } from '../auth/scope.js';
import type { OperationId } from '../config/operation-ids.js';
import type { NamedGitData } from '../faults/operation-shape.js';
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
 * Kind of object to which an operation applies. It determines which `repo` claim the token must have before the handler
 * runs. This claim names the repository for which the token is valid.
 */
export type Subject =
  /**
   * An existing repository. If the route has a repository in its path, this repository must equal the `repo` claim. On
   * other routes, under `/api/v1`, the claim selects the repository.
   */
  | 'repository'
  /** The repository that the `repo` claim names. It need not exist; the operation creates it. */
  | 'new-repository'
  /** The organization as a whole. The operation ignores the `repo` claim. */
  | 'organization'
  /**
   * Any `repo` claim is accepted. The operation itself finds the object that it needs in the organization of the token.
   */
  | 'claim';

/**
 * Required scopes of a request, and its effect. They decide whether the token and the state of the repository permit
 * the request.
 */
export interface Purpose {
  /** Scopes that the token must have. All of them are required. */
  readonly scopes: readonly Scope[];
  readonly effect: Effect;
}

/**
 * Form of JSON with another media type than `application/json`. Requests must name the media type in `Content-Type` and
 * `Accept`.
 */
export interface JsonForm {
  readonly mediaType: string;
  /** Error code of the response if the body does not match the schema of the operation. */
  readonly invalid: ProblemCode;
}

/**
 * Definition of one operation of the API. All other descriptions are derived from these definitions: the router, the
 * checks of a request, the OpenAPI document, the command `emulator routes`, and the table in the README.
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
   * Returns the required scopes and the effect of a request. It is defined only if the query or body of a request
   * decides them. If undefined, `scopes` and `effect` apply to every request of the operation.
   */
  readonly purposeOf?: (query: URLSearchParams, body: Body | undefined) => Purpose;
  /** Format of error responses; `problem` (RFC 9457) by default. */
  readonly dialect?: Dialect;
  /**
   * Schema of the query parameters. Each parameter is a string. Parameters named in `repeated` are arrays of strings.
   */
  readonly query?: z.ZodType<Query> | undefined;
  readonly repeated?: readonly string[];
  /**
   * How the request body is read. With `json`, the body is parsed and validated with the schema `body`. With `stream`,
   * the handler reads the body itself with `ctx.stream()`.
   */
  readonly reads?: 'json' | 'stream';
  readonly body?: z.ZodType<Body> | undefined;
  /**
   * Maximum CPU work of a request: the configured limit `limit`, multiplied by `times` (default 1). If absent, the work
   * is not limited, and ends early only if the client disconnects.
   */
  readonly work?: { readonly limit: 'searchTimeout' | 'workTimeout'; readonly times?: number };
  /** Finds the refs, paths and commit messages in the body or path of a request, for conditions of faults. */
  readonly names?: NamedGitData;
  /** Media type of a streamed body. Absent if the name of the route determines it. */
  readonly consumes?: string;
  /** Form of JSON in request and response bodies; undefined for `application/json`. */
  readonly json?: JsonForm;
  /**
   * Successful responses by status. The value describes the body: a schema for JSON, a media type for another body, or
   * an empty string for no body.
   */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /**
   * Error codes that the operation itself can return. Further codes are possible for every operation: `bad_request`,
   * the codes of the checks before the handler, and the codes for the state of the repository.
   */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: HandlerContext<Query, Body>) => Reply | Promise<Reply>;
}

/**
 * Definition of an operation without its id. The id is the name of the module's export that contains the definition.
 */
export type OperationRow = Omit<Operation, 'id'>;

/** Members of an operation that have default values. */
type Defaults = 'scopes' | 'subject' | 'effect' | 'reads' | 'errors';

/**
 * Operation in the form in which a module defines it. Its schemas are functions that create a schema on demand, because
 * most processes need only a few schemas.
 */
type Row<Query, Body> = Omit<Operation<Query, Body>, 'id' | 'group' | 'query' | 'body' | 'replies' | Defaults> &
  Partial<Pick<Operation, Defaults>> & {
    readonly query?: () => z.ZodType<Query>;
    readonly body?: () => z.ZodType<Body>;
    readonly replies: () => Operation['replies'];
  };

/** Members that are equal in all operations of a module. */
type Common = Partial<Pick<Operation, 'subject' | 'dialect' | 'json'>>;

/**
 * Returns a function that completes the definition of an operation of the group `group`. The compiler checks the
 * handler against the schemas.
 *
 * Absent members are taken from `common`. If they are absent there too, they have these defaults:
 *
 * - `scopes`: `git:read` for GET, `git:write` otherwise
 * - `subject`: `repository`
 * - `effect`: `write` if a scope ends with `:write`, `read` otherwise
 * - `reads`: `json` if there is a `body`
 * - `errors`: empty
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
 * Returns the two routes of an operation on a repository. The first route has the repository in its path. On the
 * second, under `/api/v1`, the `repo` claim of the token selects the repository.
 */
export function routesOfRepository(method: Method, path: string): readonly Route[] {
  return [
    { method, path: `/api/repos/{repo_name}/${path}` },
    { method, path: `/api/v1/repos/${path}` },
  ];
}

/**
 * Input of an operation's handler. It consists of values and functions, without HTTP objects. The handler returns a
 * `Reply` or throws a `Problem` (error response).
 */
export interface HandlerContext<Query = unknown, Body = unknown> {
  readonly world: World;
  readonly organization: Organization;
  /**
   * Repository to which the request applies. Reading this property throws an error if the subject of the operation is
   * not `repository`.
   */
  readonly repository: Repository;
  /** Claims of the request's token, whose signature has been verified. */
  readonly claims: Claims;
  readonly method: string;
  /** Path parameters by name, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Returns the value of a request header; undefined if absent. `name` is in lower case. */
  header(name: string): string | undefined;
  /**
   * Yields the pieces of the request body. Throws an error if the body exceeds `maxBytes`, if it pauses for too long,
   * or if the client disconnects.
   */
  stream(maxBytes: number): AsyncIterable<Buffer>;
  /** Adds facts about a Git fetch or push to the request's journal entry. The journal is a log that tests can read. */
  recordGitFacts(facts: GitFacts): void;
  /**
   * Adds a sentence that explains the response to the request's journal entry. The journal is a log that tests can
   * read.
   */
  note(why: string): void;
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /**
   * Faults (configured failures for tests) that the Git service must simulate during this request. It is undefined for
   * almost every request.
   */
  readonly gitFaults: GitFaults | undefined;
  /**
   * Meter for long loops, which counts the CPU work of the request. It says when to yield to the event loop. It throws
   * an error when the client has disconnected, or when the work limit of the operation is exceeded.
   */
  readonly meter: Meter;
  /** Origin of the URLs of Git remotes, such as `http://127.0.0.1:8080`. */
  readonly gitUrl: string;
  /**
   * True if `gitUrl` comes from an option or from the host name in the request. False if it is the address of the port
   * at which the request arrived.
   */
  readonly isGitUrlGiven: boolean;
  /** Scheme of the connection: `http` or `https`. */
  readonly scheme: Scheme;
}

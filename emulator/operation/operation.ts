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

/** What a request is about to do, as far as token and repository have a say in it. */
export interface Purpose {
  /** Every scope that is needed, together. */
  readonly scopes: readonly Scope[];
  readonly effect: Effect;
}

/** JSON of a media type of its own, which a request has to name and to accept. */
export interface JsonForm {
  readonly mediaType: string;
  /** What a body that breaks the schema is refused with. */
  readonly invalid: ProblemCode;
}

/**
 * One operation of the service, as a row: the router, the checks, the OpenAPI document, `emulator routes`
 * and the README's table are all read from it.
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
  /** Where the query or the body decides; the row's own purpose is that of a request which does not say. */
  readonly purposeOf?: (query: URLSearchParams, body: Body | undefined) => Purpose;
  /** Default `problem`. */
  readonly dialect?: Dialect;
  /** Query parameters. Values arrive as strings; a key listed in `repeated` as an array of strings. */
  readonly query?: z.ZodType<Query> | undefined;
  readonly repeated?: readonly string[];
  /** `json`: parsed and checked against `body`. `stream`: the handler reads `ctx.stream()` itself. */
  readonly reads?: 'json' | 'stream';
  readonly body?: z.ZodType<Body> | undefined;
  /** The work after which it is given up: so many `times` (default 1) a limit. Without, only its client's leaving ends it. */
  readonly work?: { readonly limit: 'searchTimeout' | 'workTimeout'; readonly times?: number };
  /** Media type of a stream, where the name of its route does not say it. */
  readonly consumes?: string;
  /** The form of JSON bodies and answers, where it is not plain `application/json`. */
  readonly json?: JsonForm;
  /** Statuses that are no error, with the schema of their JSON body, or a media type for other bodies; empty: no body. */
  readonly replies: Readonly<Record<number, z.ZodType | string>>;
  /** Codes the operation can answer beside `bad_request`, the gateway's, and those of its repository's state. */
  readonly errors: readonly ProblemCode[];
  readonly handle: (ctx: HandlerContext<Query, Body>) => Reply | Promise<Reply>;
}

/** A row whose id is the name of its export. */
export type OperationRow = Omit<Operation, 'id'>;

/** Members with a default, which most rows leave out. */
type Defaults = 'scopes' | 'subject' | 'effect' | 'reads' | 'errors';

/** An operation as it is written: most of its schemas are never read, so that each is made when it is first asked for. */
type Row<Query, Body> = Omit<Operation<Query, Body>, 'id' | 'group' | 'query' | 'body' | 'replies' | Defaults> &
  Partial<Pick<Operation, Defaults>> & {
    readonly query?: () => z.ZodType<Query>;
    readonly body?: () => z.ZodType<Body>;
    readonly replies: () => Operation['replies'];
  };

/** What all rows of a module can have in common. */
type Common = Partial<Pick<Operation, 'subject' | 'dialect' | 'json'>>;

/**
 * Returns a function that completes a row of a group, which the compiler checks against its own schemas. Defaults beside
 * `common`: `scopes` is `git:read` if the method is GET
 * and else `git:write`, `subject` is `repository`, `effect` is `write` if a scope ends with `:write` and else `read`,
 * `reads` is `json` if there is a `body`, and `errors` is empty.
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

/** Returns the two routes of a path below a repository: by the name in the path, and by the claim. */
export function routesOfRepository(method: Method, path: string): readonly Route[] {
  return [
    { method, path: `/api/repos/{repo_name}/${path}` },
    { method, path: `/api/v1/repos/${path}` },
  ];
}

/** What a handler is given: values only. It answers with a `Reply` or throws a `Problem`. */
export interface HandlerContext<Query = unknown, Body = unknown> {
  readonly world: World;
  readonly organization: Organization;
  /** The repository the request is about. Throws if the operation's subject is not `repository`. */
  readonly repository: Repository;
  /** The claims of the verified token. */
  readonly claims: Claims;
  readonly method: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Lower-case request header, or undefined. */
  header(name: string): string | undefined;
  /** The request body as it arrives; throws past `maxBytes`, after a long pause, and when the client goes away. */
  stream(maxBytes: number): AsyncIterable<Buffer>;
  /** Has the journal say what a request of Git is about. */
  tell(facts: GitFacts): void;
  /** Adds a sentence to those that say, in the journal, what was decided. */
  note(why: string): void;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** What a Git service is asked to do wrong; undefined for almost every request. */
  readonly gitFaults: GitFaults | undefined;
  /** What long loops of this request report to; ends them when the client has gone, or at the operation's limit. */
  readonly meter: Meter;
  /** `http://127.0.0.1:8080`: the origin Git remotes start with. */
  readonly gitUrl: string;
  /** Whether that was given or named, and is not merely the address of a port. */
  readonly isGitUrlGiven: boolean;
  /** What the request came by. */
  readonly scheme: Scheme;
}

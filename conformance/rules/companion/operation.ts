import type { TokenRecipe } from '../../auth/tokens.js';
import type { Kind, Shape } from './shape.js';
import type { Family, TestRepository } from './test-repository.js';

/** Variable parts of an operation's request. */
export interface OperationRequest {
  /** Repository name in the token of the request. Default: the test repository. */
  readonly repo?: string;
  /** Values for the placeholders of the route, by name. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly lines?: readonly unknown[];
}

/** Operation of the service's API, with its routes as published clients use them. */
export interface Operation {
  readonly name: string;
  readonly method: string;
  /**
   * Routes of the operation: `preferred` below `/api/repos`, `v1` below `/api/v1`. Undefined if absent. The
   * encoded repository name replaces `{n}`.
   */
  readonly routes: Readonly<Record<Family, string | undefined>>;
  /** Scopes of the token with the fewest permissions that may call the operation. */
  readonly scopes: NonNullable<TokenRecipe['scopes']>;
  /** HTTP statuses that published clients accept as success. */
  readonly ok: readonly number[];
  /** Members of the response that published clients read. Each has its type. */
  readonly shape: Shape;
  readonly request: (repository: TestRepository, family: Family) => OperationRequest | Promise<OperationRequest>;
}

/**
 * Route of an operation, as method and path below the repository. The tuple form adds success statuses (default: 200),
 * and routes that replace the ones derived from the path.
 */
type Route = string | readonly [route: string, ok: number | readonly number[], routes?: Partial<Operation['routes']>];

/** Function that builds the definition of one operation. */
type OperationRow = (name: string, route: Route, shape: Shape, request?: Operation['request']) => Operation;

/** Returns a function that defines operations. All of them require these scopes. */
export function operationsOf(...scopes: readonly string[]): OperationRow {
  return (name, route, shape, request = () => ({})) => {
    const [line, ok = 200, routes = {}] = typeof route === 'string' ? [route] : route;
    const [method, path] = line.split(' ') as [string, string];
    const both = { preferred: `/api/repos/{n}${path}`, v1: `/api/v1/repos${path}` };
    return { name, method, routes: { ...both, ...routes }, scopes, ok: [ok].flat(), shape, request };
  };
}

export const gitRead = operationsOf('git:read');
export const gitWrite = operationsOf('git:write');
export const repoWrite = operationsOf('repo:write');

const ofKind = (kind: Kind, members: readonly string[]): Shape =>
  Object.fromEntries(members.map((member) => [member, kind]));

export const strings = (...members: readonly string[]): Shape => ofKind('string', members);
export const numbers = (...members: readonly string[]): Shape => ofKind('number', members);

/** Member that every paginated list response has. */
export const PAGE: Shape = { has_more: 'boolean' };

export const STATS: Shape = {
  ...numbers('stats.files', 'stats.additions', 'stats.deletions', 'stats.changes', 'files[].bytes'),
  ...strings('files[].path', 'files[].state', 'files[].raw'),
  'files[].is_eof': 'boolean',
  filtered_files: 'array',
};

/**
 * Returns a shape for a list: every item of `plural` must have the members of `shape`. Member names become
 * `plural[].member`.
 */
export const each = (plural: string, shape: Shape): Shape =>
  Object.fromEntries(Object.entries(shape).map(([member, kind]) => [`${plural}[].${member}`, kind]));

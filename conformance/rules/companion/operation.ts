import type { TokenRecipe } from '../../auth/tokens.js';
import type { Kind, Shape } from './shape.js';
import type { Family, TestRepository } from './test-repository.js';

/** Variable parts of a request to an operation. */
export interface OperationRequest {
  /** Repository that the token of the request names. Default: the test repository. */
  readonly repo?: string;
  /** Values for the placeholders of the route, by name. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly lines?: readonly unknown[];
}

/** Operation of the service's API, as published clients use it. */
export interface Operation {
  readonly name: string;
  readonly method: string;
  /**
   * Routes by family (`preferred` or `v1`); undefined if none. `{n}` is replaced by the encoded name of the repository.
   */
  readonly routes: Readonly<Record<Family, string | undefined>>;
  /** Scopes of the narrowest token that may call the operation. */
  readonly scopes: NonNullable<TokenRecipe['scopes']>;
  /** HTTP statuses that published clients accept as success. */
  readonly ok: readonly number[];
  /** Members of the response that published clients read, with their types. */
  readonly shape: Shape;
  readonly request: (repository: TestRepository, family: Family) => OperationRequest | Promise<OperationRequest>;
}

/**
 * Method and path below the repository, optionally with the success statuses (default: 200) and with routes that
 * replace those derived from the path.
 */
type Route = string | readonly [route: string, ok: number | readonly number[], routes?: Partial<Operation['routes']>];

/** Builds the definition of an operation on one repository. */
type OperationRow = (name: string, route: Route, shape: Shape, request?: Operation['request']) => Operation;

/** Returns a function that builds definitions of operations that require these scopes. */
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

/** Member that ends every paginated list response. */
export const PAGE: Shape = { has_more: 'boolean' };

export const STATS: Shape = {
  ...numbers('stats.files', 'stats.additions', 'stats.deletions', 'stats.changes', 'files[].bytes'),
  ...strings('files[].path', 'files[].state', 'files[].raw'),
  'files[].is_eof': 'boolean',
  filtered_files: 'array',
};

/** Returns a shape that requires each member of `shape` in every item of the list `plural`, as `plural[].member`. */
export const each = (plural: string, shape: Shape): Shape =>
  Object.fromEntries(Object.entries(shape).map(([member, kind]) => [`${plural}[].${member}`, kind]));

import { problem } from './problem.js';
import { decodeOnce } from './request-target.js';
import type { Method, Route, Routed } from './route.js';

interface Node<T extends Routed> {
  readonly fixed: Map<string, Node<T>>;
  variable: { readonly name: string; readonly node: Node<T> } | undefined;
  readonly methods: Map<Method, T>;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies readonly (Method | 'HEAD')[];

export interface Match<T extends Routed> {
  readonly operation: T;
  readonly params: Record<string, string>;
}

/**
 * Router that matches paths segment by segment. It splits the path first and then decodes each segment exactly once, so
 * an encoded slash (`%2F`) does not split a segment. A `{name}` in a template matches one non-empty segment.
 *
 * Matching costs one map lookup per segment, regardless of the number of routes.
 */
export class Router<T extends Routed> {
  readonly #root = createNode<T>();
  readonly #methods = new Set<string>();

  /**
   * Adds the routes of all operations. `pathOf` returns the path template for a route; the default is the route's own
   * template.
   */
  constructor(operations: Iterable<T>, pathOf = ({ path }: Route): string => path) {
    for (const operation of operations) {
      for (const { method, path } of operation.routes) this.#add({ method, path: pathOf({ method, path }) }, operation);
    }
  }

  /** Value of an `Allow` header with the methods of all routes. */
  get allow(): string {
    return METHODS.filter((method) => this.#methods.has(method)).join(', ');
  }

  /**
   * Returns the operation for a method and a path, and the parameters in the path. Throws `route_not_found` if no route
   * matches the path. Throws `MethodNotAllowed` if only routes with other methods match.
   */
  match(method: string, path: string): Match<T> {
    const params: Record<string, string> = {};
    let node = this.#root;
    for (let end = 0; end < path.length; ) {
      const start = end + 1;
      end = path.indexOf('/', start);
      if (end < 0) end = path.length;
      const segment = path.slice(start, end);
      const fixed = node.fixed.get(segment);
      if (fixed) {
        node = fixed;
      } else if (node.variable && segment !== '') {
        params[node.variable.name] = decodeOnce(segment, 'The path');
        node = node.variable.node;
      } else {
        throw problem(
          'route_not_found',
          'The API has no route with this path. The command "emulator routes" lists all routes.',
        );
      }
    }
    if (node.methods.size === 0)
      throw problem(
        'route_not_found',
        'The API has no route with this path. The command "emulator routes" lists all routes.',
      );
    const operation = node.methods.get((method === 'HEAD' ? 'GET' : method) as Method);
    if (operation && (method !== 'HEAD' || operation.head !== false)) return { operation, params };
    throw new MethodNotAllowed(allowedMethods(node), anyOf(node.methods));
  }

  #add(route: Route, operation: T): void {
    let node = this.#root;
    for (const segment of route.path.slice(1).split('/')) {
      const name = /^\{(.+)\}$/.exec(segment)?.[1];
      if (name === undefined) {
        const next = node.fixed.get(segment) ?? createNode<T>();
        node.fixed.set(segment, next);
        node = next;
      } else {
        node.variable ??= { name, node: createNode<T>() };
        if (node.variable.name !== name)
          throw new Error(`${route.path}: {${name}} is called {${node.variable.name}} in another route`);
        node = node.variable.node;
      }
    }
    if (node.methods.has(route.method)) throw new Error(`${route.method} ${route.path} is routed twice`);
    node.methods.set(route.method, operation);
    this.#methods.add(route.method);
    if (route.method === 'GET' && operation.head !== false) this.#methods.add('HEAD');
  }
}

/**
 * Thrown if routes match the path, but only with other methods. It contains the operation of one of these routes, which
 * determines the format of the error response.
 */
export class MethodNotAllowed extends Error {
  constructor(
    readonly allow: string,
    /** Operation with a route that matches the path, but not the method. */
    readonly operation: Routed,
  ) {
    super('method not allowed');
  }
}

function createNode<T extends Routed>(): Node<T> {
  return { fixed: new Map(), variable: undefined, methods: new Map() };
}

function anyOf<T extends Routed>(methods: Map<Method, T>): T {
  return methods.get('GET') ?? methods.values().next().value!;
}

function allowedMethods<T extends Routed>(node: Node<T>): string {
  const methods: string[] = [...node.methods.keys()];
  const get = node.methods.get('GET');
  if (get && get.head !== false) methods.splice(methods.indexOf('GET') + 1, 0, 'HEAD');
  return methods.join(', ');
}

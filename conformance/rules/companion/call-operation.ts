import { segment } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectSame } from '../../check/expect.js';
import { Skip } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import type { Operation, OperationRequest } from './operation.js';
import { OPERATIONS } from './operations.js';
import { FAMILIES, type Family, TestRepository } from './test-repository.js';

/**
 * Returns the request path of an operation: its route with the placeholders filled in. Returns undefined if the
 * operation has no route in this family. A family is a set of routes: `preferred` (`/api/repos`) or `v1` (`/api/v1`).
 */
export function routeOf(operation: Operation, family: Family, repo: string, params: OperationRequest['params'] = {}) {
  const route = operation.routes[family];
  const values: Readonly<Record<string, string>> = { n: repo, ...params };
  return route?.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(values[name] ?? 'none'));
}

const NO_CUSTOM_REFS = 'custom notes refs are not enabled';

/**
 * Sends a request to an operation by its route in the given family, as published clients do. The default request is the
 * one in the table of operations, which succeeds.
 */
export async function callOperation(
  repository: TestRepository,
  named: Operation | string,
  family: Family,
  request?: OperationRequest,
  scopes?: Operation['scopes'],
): Promise<ApiResponse> {
  const operation = typeof named === 'string' ? operationOf(named) : named;
  const { repo = repository.name, params, ...options } = request ?? (await operation.request(repository, family));
  const path = routeOf(operation, family, repo, params);
  if (path === undefined) throw new Error(`${operation.name} has no ${family} route`);
  const response = await repository.t.request(operation.method, path, {
    ...options,
    as: { repo, scopes: scopes ?? operation.scopes },
  });
  // A service may disable custom notes refs and then responds with this message. The rule cannot be checked on such a
  // target.
  if (response.status === 400 && response.text.includes(NO_CUSTOM_REFS)) throw new Skip(NO_CUSTOM_REFS);
  return response;
}

export interface OperationRoute {
  readonly operation: Operation;
  readonly family: Family;
  readonly repository: TestRepository;
  /** Method and path of the route, as its name in reports. */
  readonly label: string;
}

/**
 * Calls `visit` for every route of the wanted operations. Each family of routes gets one new repository. `visit`
 * returns a description of the violation; undefined if absent. Operations that cannot be tried on the target are
 * recorded and skipped.
 */
export async function forEachRoute(
  t: RuleContext,
  wanted: (operation: Operation) => boolean,
  visit: (route: OperationRoute) => Promise<string | undefined>,
): Promise<void> {
  t.needsCompanion();
  const complaints: string[] = [];
  for (const family of FAMILIES) {
    const repository = await TestRepository.create(t);
    for (const operation of OPERATIONS.filter(wanted)) {
      const route = operation.routes[family];
      if (route === undefined) continue;
      const label = `${operation.method} ${route}`;
      try {
        const complaint = await visit({ operation, family, repository, label });
        if (complaint !== undefined) complaints.push(`${label}: ${complaint}`);
      } catch (error) {
        if (!(error instanceof Skip)) throw error;
        t.observe(`left out: ${label}`, error.message);
      }
    }
  }
  expectSame(complaints, [], 'every operation must behave as expected on every route');
}

/** Returns a filter for operations that require exactly these scopes, in this order. */
export function needsScopes(...scopes: readonly string[]): (operation: Operation) => boolean {
  return (operation) => operation.scopes.join() === scopes.join();
}

export function operationOf(name: string): Operation {
  const found = OPERATIONS.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`no operation is called ${name}`);
  return found;
}

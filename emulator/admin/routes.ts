import type { AdminRoute } from './route.js';
import * as rows from './rows.js';

/**
 * All routes of the admin API. The router uses the first route that matches, so routes with fewer path parameters come
 * first.
 */
export const adminRoutes: readonly AdminRoute[] = Object.entries(rows)
  .map(([id, row]) => Object.assign(row, { id }))
  .sort((one, other) => parametersOf(one) - parametersOf(other) || (one.path < other.path ? -1 : 1));

function parametersOf({ path }: AdminRoute): number {
  return path.split('{').length - 1;
}

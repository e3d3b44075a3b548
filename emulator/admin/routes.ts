import type { AdminRoute } from './route.js';
import * as rows from './rows.js';

/** Every route of the admin API, those with fewer parameters first: of two that match a path, the router takes the first. */
export const adminRoutes: readonly AdminRoute[] = Object.entries(rows)
  .map(([id, row]) => Object.assign(row, { id }))
  .sort((one, other) => parametersOf(one) - parametersOf(other) || (one.path < other.path ? -1 : 1));

function parametersOf({ path }: AdminRoute): number {
  return path.split('{').length - 1;
}

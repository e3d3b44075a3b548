import { showHealth, showOpenApi, showVersion } from './about.js';
import { ADMIN_PREFIX } from './path.js';
import type { AdminRoute } from './route.js';

/** The routes that ask for no token where there is one: they tell nothing that it guards. */
export const openRoutes: readonly AdminRoute[] = [showHealth, showVersion, showOpenApi];

const OPEN_PATHS: ReadonlySet<string> = new Set(openRoutes.map(({ path }) => ADMIN_PREFIX + path));

/** Whether the path is one of an open route, in its plain spelling. */
export function isOpenPath(path: string): boolean {
  return OPEN_PATHS.has(path);
}

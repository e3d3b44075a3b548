import { OPERATIONS } from '../rules/companion/operations.js';

const GIT = /^\/.+?\/(info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/.*)$/;

/**
 * All routes, split into path segments. A segment `{…}` matches any value. Routes with fewer such segments come first,
 * because the first matching route is used.
 */
const ROUTES: readonly (readonly string[])[] = OPERATIONS.flatMap(({ routes }) => Object.values(routes))
  .filter((route) => route !== undefined)
  .map((route) => route.replace('{n}', '{repo_name}').split('/'))
  .sort((a, b) => placeholders(a) - placeholders(b));

function placeholders(route: readonly string[]): number {
  return route.filter((part) => part.startsWith('{')).length;
}

/**
 * Returns the route of a request path, such as `/api/repos/{repo_name}/branches`. `path` has no query. Returns `path`
 * itself if no route matches.
 */
export function routeOf(path: string): string {
  return knownRouteOf(path) ?? path;
}

/** Returns the route of a request path. `path` has no query. Returns undefined if no route matches. */
export function knownRouteOf(path: string): string | undefined {
  const [, service] = GIT.exec(path) ?? [];
  if (service !== undefined) return `/{repo_name}.git/${service}`;
  const parts = path.split('/');
  const route = ROUTES.find((one) => one.length === parts.length && one.every((part, at) => isPart(part, parts[at])));
  return route?.join('/');
}

function isPart(part: string, seen: string | undefined): boolean {
  return part.startsWith('{') ? seen !== '' : part === seen;
}

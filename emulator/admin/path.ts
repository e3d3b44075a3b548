/** Prefix of the paths of the admin routes, with which tests control the emulator. */
export const ADMIN_PREFIX = '/_emulator';

/** Path of an admin route that responds as soon as the emulator can serve requests. */
export const HEALTH_PATH = `${ADMIN_PREFIX}/health`;

/** Returns true if a path is that of a file of the emulator's web page, spelled exactly as in the routes. */
export function isPagePath(path: string): boolean {
  return path === ADMIN_PREFIX || path === `${ADMIN_PREFIX}/` || path.startsWith(`${ADMIN_PREFIX}/page/`);
}

/** Returns an admin path without the prefix `/_emulator`, as the definitions of the routes contain it. */
export function pathBelowAdmin(path: string): string {
  return path.slice(ADMIN_PREFIX.length);
}

const FIRST_SEGMENT = ADMIN_PREFIX.slice(1);

/**
 * Returns true if a proxy or another program could take the path for that of an admin route. Such programs may decode
 * percent sequences, ignore case, and remove empty and dot segments. Only one spelling of a path matches a route, but
 * the access check must apply to all spellings.
 */
export function isAdminPath(path: string): boolean {
  const read = (path.includes('%') ? decodeLeniently(path) : path).toLowerCase();
  if (!read.includes(FIRST_SEGMENT)) return false;
  const segments = read.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments[0] === FIRST_SEGMENT || resolveDots(segments)[0] === FIRST_SEGMENT;
}

function decodeLeniently(path: string): string {
  return path.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function resolveDots(segments: readonly string[]): string[] {
  const resolved: string[] = [];
  for (const segment of segments) {
    if (segment === '..') resolved.pop();
    else resolved.push(segment);
  }
  return resolved;
}

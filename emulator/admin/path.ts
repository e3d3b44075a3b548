/** Path prefix of the admin routes. Tests use these routes to control the emulator. */
export const ADMIN_PREFIX = '/_emulator';

/** Path of the admin route that reports that the emulator can serve requests. */
export const HEALTH_PATH = `${ADMIN_PREFIX}/health`;

/** Returns true if a path is exactly the path of a file of the emulator's web page. */
export function isPagePath(path: string): boolean {
  return path === ADMIN_PREFIX || path === `${ADMIN_PREFIX}/` || path.startsWith(`${ADMIN_PREFIX}/page/`);
}

/** Removes the prefix `/_emulator` from an admin path, because route definitions contain paths without it. */
export function pathBelowAdmin(path: string): string {
  return path.slice(ADMIN_PREFIX.length);
}

const FIRST_SEGMENT = ADMIN_PREFIX.slice(1);

/**
 * Returns true if a proxy or another program could treat the path as an admin path. Such programs may decode percent
 * sequences, ignore case, and remove empty and dot segments. A route matches only one spelling of its path, but the
 * access check must apply to all spellings.
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

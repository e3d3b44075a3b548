/** What the paths of the emulator's own routes start with. */
export const ADMIN_PREFIX = '/_emulator';

/** Answers as soon as the emulator can serve requests. */
export const HEALTH_PATH = `${ADMIN_PREFIX}/health`;

/** Whether the path is one of the page's files, in its plain spelling. */
export function isPagePath(path: string): boolean {
  return path === ADMIN_PREFIX || path === `${ADMIN_PREFIX}/` || path.startsWith(`${ADMIN_PREFIX}/page/`);
}

/** A path as the rows of the routes have it. */
export function pathBelowAdmin(path: string): string {
  return path.slice(ADMIN_PREFIX.length);
}

const FIRST_SEGMENT = ADMIN_PREFIX.slice(1);

/**
 * Whether a path leads to the emulator's own routes in any reading: with percent sequences decoded, in whatever case,
 * with empty and dot segments resolved or not. Only the plain spelling is a route; all of them meet the same guard.
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

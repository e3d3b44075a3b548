import type { ByteString } from './bytes.js';
import { MOST_PATTERN_BYTES, Wildmatch } from './wildmatch.js';

export const MOST_GLOBS = 100;

/** `too-many` globs in one list, one that is `too-long`, or `empty`. */
export type GlobFault = 'too-many' | 'too-long' | 'empty';

export interface GlobFilter {
  /** Whether a path is included and not excluded. */
  accepts(path: ByteString): boolean;
}

/** What is wrong with a list of globs; undefined when nothing is. */
export function globFault(globs: readonly ByteString[]): GlobFault | undefined {
  if (globs.length > MOST_GLOBS) return 'too-many';
  if (globs.some((glob) => glob.length > MOST_PATTERN_BYTES)) return 'too-long';
  return globs.some((glob) => glob === '' || glob === '/') ? 'empty' : undefined;
}

/**
 * The filter of `include_globs` and `exclude_globs`. No include glob includes everything; exclusion wins.
 *
 * The specification shows one glob, `**\/*.js`, meant at any depth, so a glob is a wildmatch pattern in which slashes
 * count. Beyond that the rules are those people know from .gitignore, ripgrep and editors:
 *
 * - a glob without a slash matches a name at any depth: `*.js` is `**\/*.js` (Git's plain pathspec agrees);
 * - a glob with a slash matches from the root, and a slash at its start only says so: `src/*.js`, `/README.md`;
 * - a glob whose last name is plain text, or empty, also covers what is in the folder of that name: `node_modules`,
 *   `docs/`. `docs/*` is only what is directly in `docs`.
 */
export function compileGlobs(include: readonly ByteString[] = [], exclude: readonly ByteString[] = []): GlobFilter {
  const included = include.flatMap(compileGlob);
  const excluded = exclude.flatMap(compileGlob);
  return {
    accepts: (path) =>
      (include.length === 0 || included.some((glob) => glob.matches(path))) &&
      !excluded.some((glob) => glob.matches(path)),
  };
}

function compileGlob(glob: ByteString): Wildmatch[] {
  const slash = glob.indexOf('/');
  const isAnchored = slash >= 0 && slash < glob.length - 1;
  const rooted = glob.startsWith('/') ? glob.slice(1) : glob;
  const pattern = isAnchored ? rooted : `**/${rooted}`;
  if (pattern.endsWith('/')) return [compile(`${pattern}**`)];
  const lastName = pattern.slice(pattern.lastIndexOf('/') + 1);
  return /[*?[\\]/.test(lastName) ? [compile(pattern)] : [compile(pattern), compile(`${pattern}/**`)];
}

function compile(pattern: ByteString): Wildmatch {
  return new Wildmatch(pattern, { pathname: true });
}

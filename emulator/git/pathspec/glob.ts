import type { ByteString } from '../object/bytes.js';
import type { PathPattern } from './path-matcher.js';
import { parseWildmatch } from './wildmatch.js';

/**
 * A glob of `include_globs` or `exclude_globs`; undefined for one that matches nothing.
 *
 * The specification shows one glob, `**\/*.js`, meant at any depth, so a glob is a wildmatch pattern in which slashes
 * count. Beyond that the rules are those people know from .gitignore, ripgrep and editors:
 *
 * - a glob without a slash matches a name at any depth: `*.js` is `**\/*.js` (Git's plain pathspec agrees);
 * - a glob with a slash matches from the root, and a slash at its start only says so: `src/*.js`, `/README.md`;
 * - a glob whose last name is plain text, or empty, also covers what is in the folder of that name: `node_modules`,
 *   `docs/`. `docs/*` is only what is directly in `docs`.
 */
export function parseGlob(glob: ByteString): PathPattern | undefined {
  const slash = glob.indexOf('/');
  const isAnchored = slash >= 0 && slash < glob.length - 1;
  const rooted = glob.startsWith('/') ? glob.slice(1) : glob;
  const pattern = isAnchored ? rooted : `**/${rooted}`;
  if (pattern.endsWith('/')) return parse(`${pattern}**`);
  const lastName = pattern.slice(pattern.lastIndexOf('/') + 1);
  // The folder's name ends two tokens earlier: `/` and `**`.
  return /[*?[\\]/.test(lastName) ? parse(pattern) : parse(`${pattern}/**`, 2);
}

function parse(pattern: ByteString, rest?: number): PathPattern | undefined {
  const tokens = parseWildmatch(pattern, { pathname: true });
  return tokens && { tokens, ignoreCase: false, ends: rest === undefined ? [] : [tokens.length - rest] };
}

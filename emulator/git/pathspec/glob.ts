import { type ByteString, bytesOf, concatBytes, sliceBytes } from '../object/bytes.js';
import type { PathPattern } from './path-matcher.js';
import { parseWildmatch } from './wildmatch.js';

const ANY_FOLDERS = bytesOf('**/');
const ANYTHING = bytesOf('**');
const ANYTHING_BELOW = bytesOf('/**');

/**
 * Parses a glob of `include_globs` or `exclude_globs`. Returns undefined if it matches nothing.
 *
 * A glob is a wildmatch pattern in which slashes are significant. The reason is that the specification shows only one
 * glob, `**\/*.js`, which applies at any depth. The other rules are those of .gitignore, ripgrep and editors:
 *
 * - A glob without a slash matches a name at any depth: `*.js` is `**\/*.js` (as with Git's plain pathspec).
 * - A glob with a slash matches from the root: `src/*.js`, `/README.md`. A leading slash has no other effect.
 * - A glob whose last name is plain text, or empty, also matches the content of the folder with that name:
 *   `node_modules`, `docs/`. `docs/*` matches only what is directly in `docs`.
 */
export function parseGlob(glob: ByteString): PathPattern | undefined {
  const slash = glob.indexOf('/');
  const isAnchored = slash >= 0 && slash < glob.length - 1;
  const rooted = glob.startsWith('/') ? sliceBytes(glob, 1) : glob;
  const pattern = isAnchored ? rooted : concatBytes(ANY_FOLDERS, rooted);
  if (pattern.endsWith('/')) return parse(concatBytes(pattern, ANYTHING));
  const lastName = pattern.slice(pattern.lastIndexOf('/') + 1);
  // `/**` is appended to the pattern, so that it also matches the content of a folder with this name. A match may also
  // end before these two tokens, because the name can be that of a file.
  return /[*?[\\]/.test(lastName) ? parse(pattern) : parse(concatBytes(pattern, ANYTHING_BELOW), 2);
}

function parse(pattern: ByteString, rest?: number): PathPattern | undefined {
  const tokens = parseWildmatch(pattern, { pathname: true });
  return tokens && { tokens, ignoreCase: false, ends: rest === undefined ? [] : [tokens.length - rest] };
}

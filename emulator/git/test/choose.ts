import { runSync } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import type { PathMatcher } from '../pathspec/path-matcher.js';
import { type FileSelection, selectFiles } from '../pathspec/select-files.js';

/** Returns true if a matcher accepts a path. Passes the path to the matcher byte by byte. */
export function accepts(matcher: PathMatcher, path: ByteString): boolean {
  const bytes = Buffer.from(path, 'latin1');
  let state = matcher.start;
  for (let at = 0; at < bytes.length; at++) state = matcher.after(state, bytes, at, at + 1);
  return matcher.accepts(state);
}

/** Returns the paths that the selection contains. */
export function choose(selection: FileSelection, paths: readonly ByteString[]): ByteString[] {
  const matcher = runSync(selectFiles(selection));
  return paths.filter((path) => matcher === undefined || accepts(matcher, path));
}

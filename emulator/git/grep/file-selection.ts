import type { ByteString } from '../bytes.js';
import { compileGlobs } from '../glob.js';
import { compilePathspecs } from '../pathspec.js';

export interface FileSelection {
  /** Pathspecs: a file, a folder with all it holds, or a pattern. */
  readonly paths?: readonly ByteString[] | undefined;
  readonly includeGlobs?: readonly ByteString[] | undefined;
  readonly excludeGlobs?: readonly ByteString[] | undefined;
  /** With or without their dot, as they are spelt. */
  readonly extensions?: readonly ByteString[] | undefined;
}

/** The files that pass every filter given. Throws `BadPathspec`; judge globs by `globFault` before. */
export function selectFiles(selection: FileSelection): (path: ByteString) => boolean {
  const { paths = [], includeGlobs = [], excludeGlobs = [], extensions = [] } = selection;
  const pathspecs = compilePathspecs(paths);
  const globs = compileGlobs(includeGlobs, excludeGlobs);
  const endings = extensions.map((extension) => (extension.startsWith('.') ? extension : `.${extension}`));
  return (path) =>
    (endings.length === 0 || endings.some((ending) => path.endsWith(ending))) &&
    pathspecs.matches(path) &&
    globs.accepts(path);
}

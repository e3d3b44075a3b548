import { type ByteString, bytesOf, concatBytes, NO_BYTES, SLASH, sliceBytes, splitBytes } from './bytes.js';
import { hidesDotName } from './dot-names.js';
import { MODE_SYMLINK } from './tree.js';

const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Reasons why a path given by a client is invalid: description by code. */
const PATH_ISSUES = {
  'not-text': 'is not well-formed Unicode text',
  empty: 'is empty',
  control: 'has a NUL or a line feed',
  'too-long': `is longer than ${MAX_PATH_BYTES} bytes`,
  'empty-name': 'has an empty segment, or ends in a slash',
  'dot-name': 'has a segment `.` or `..`',
  'long-name': `has a segment longer than ${MAX_NAME_BYTES} bytes`,
  'git-name': 'has a segment that some file systems treat as `.git`',
  'modules-link': 'makes `.gitmodules` a symbolic link',
} as const;

export type PathIssue = keyof typeof PATH_ISSUES;

/**
 * Returns the description of the reason why a path is invalid. The description continues a sentence that begins with
 * "the path".
 */
export function describePathIssue(issue: PathIssue): string {
  return PATH_ISSUES[issue];
}

/**
 * Result of validating a path from a request of the HTTP API: the path as a byte string, or the reason why it is
 * invalid.
 */
export type PathReading = { readonly path: ByteString; readonly issue?: undefined } | { readonly issue: PathIssue };

/**
 * Validates a path given by a client, after removing slashes at its start. Accepts a path if Git would check it out on
 * any file system (Git's `verify_path` with `core.protectNTFS` and `core.protectHFS`).
 *
 * A backslash is an ordinary byte. The file mode `mode` is needed only for a symbolic link, because `.gitmodules` must
 * not be one.
 */
export function readPath(text: string, mode?: number): PathReading {
  if (LONE_SURROGATE.test(text)) return { issue: 'not-text' };
  const path = bytesOf(stripLeadingSlashes(text));
  const issue = pathIssue(path, mode);
  return issue === undefined ? { path } : { issue };
}

function stripLeadingSlashes(text: string): string {
  let start = 0;
  while (text.charCodeAt(start) === 0x2f) start++;
  return text.slice(start);
}

/** Returns the reason why `path` cannot be the path of a tree entry; undefined if the path is valid. */
export function pathIssue(path: ByteString, mode?: number): PathIssue | undefined {
  if (path === '') return 'empty';
  if (path.length > MAX_PATH_BYTES) return 'too-long';
  if (/[\0\n]/.test(path)) return 'control';
  let last = path;
  for (const name of splitBytes(path, '/')) {
    const issue = nameIssue(name);
    if (issue !== undefined) return issue;
    last = name;
  }
  return mode === MODE_SYMLINK && hidesDotName(last, 'gitmodules') ? 'modules-link' : undefined;
}

function nameIssue(name: ByteString): PathIssue | undefined {
  if (name === '') return 'empty-name';
  if (name === '.' || name === '..') return 'dot-name';
  if (name.length > MAX_NAME_BYTES) return 'long-name';
  return hidesDotName(name, 'git') ? 'git-name' : undefined;
}

/** Returns the path of the entry `name` in the folder `folder`. The root folder is the empty path. */
export function pathIn(folder: ByteString, name: ByteString): ByteString {
  return folder === '' ? name : concatBytes(folder, SLASH, name);
}

/** Returns the path of the folder that contains `path`. The path of the root folder is empty. */
export function folderOf(path: ByteString): ByteString {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? NO_BYTES : sliceBytes(path, 0, slash);
}

/** Returns the last segment of a path. */
export function nameOf(path: ByteString): ByteString {
  return sliceBytes(path, path.lastIndexOf('/') + 1);
}

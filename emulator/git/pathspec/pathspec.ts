import {
  type ByteString,
  bytesOf,
  concatBytes,
  joinBytes,
  NO_BYTES,
  SLASH,
  sliceBytes,
  splitBytes,
} from '../object/bytes.js';
import type { PathPattern } from './path-matcher.js';
import { foldCase, parseWildmatch } from './wildmatch.js';

const SLASH_CODE = 0x2f;
const PARENT = bytesOf('..');

/** Error for a pathspec that Git would refuse. The message states the reason. */
export class BadPathspec extends Error {
  override readonly name = 'BadPathspec';
}

/**
 * Magic words of pathspecs, such as `:(exclude)`, with their short forms (gitglossary, "pathspec"). Each character of a
 * value is one short form. `top` has no effect, because all paths start at the root.
 */
const MAGIC = {
  top: '/',
  exclude: '!^',
  literal: '',
  icase: '',
  glob: '',
} as const;

type Magic = keyof typeof MAGIC;

/**
 * Parsed pathspec. It selects the paths that match at least one pattern. With `isExclude`, it excludes these paths
 * instead.
 */
export interface Pathspec {
  readonly patterns: readonly PathPattern[];
  readonly isExclude: boolean;
}

/**
 * Parses a pathspec as `git ls-files -- <pathspec>…` does at the root of the tree. A pathspec is the path of a file,
 * the path of a folder (which selects its content), or a wildmatch pattern in which `*` also matches slashes.
 *
 * `:(glob)`, `:(icase)`, `:(literal)`, `:(top)`, `:(exclude)` and their short forms are supported; `:(attr)` is not. A
 * leading slash and `./` are ignored. Throws `BadPathspec`.
 */
export function parsePathspec(spec: ByteString): Pathspec {
  if (spec === '') throw new BadPathspec('a path is empty; the root is `.`');
  const { magic, rest } = readMagic(spec);
  if (magic.has('glob') && magic.has('literal')) throw new BadPathspec('`glob` and `literal` exclude each other');
  const path = normalize(rest);
  const ignoreCase = magic.has('icase');
  const patterns = [atOrBelow(ignoreCase ? foldCase(path) : path, ignoreCase)];
  if (!magic.has('literal') && /[*?[\\]/.test(path)) {
    const tokens = parseWildmatch(path, { pathname: magic.has('glob'), ignoreCase });
    if (tokens) patterns.push({ tokens, ignoreCase, ends: [] });
  }
  return { patterns, isExclude: magic.has('exclude') };
}

/**
 * Returns the pattern for a path and everything in the folder with this path. If the path ends with a slash, only the
 * content of the folder matches.
 */
function atOrBelow(path: ByteString, ignoreCase: boolean): PathPattern {
  const bytes = Array.from(path, (char) => char.charCodeAt(0));
  if (path === '' || path.endsWith('/')) return { tokens: [...bytes, 'starstar'], ignoreCase, ends: [] };
  return { tokens: [...bytes, SLASH_CODE, 'starstar'], ignoreCase, ends: [bytes.length] };
}

function readMagic(spec: ByteString): { magic: Set<Magic>; rest: ByteString } {
  const magic = new Set<Magic>();
  if (!spec.startsWith(':')) return { magic, rest: spec };
  if (spec.startsWith(':(')) {
    const end = spec.indexOf(')');
    if (end < 0) throw new BadPathspec('`:(` without `)`');
    for (const word of spec.slice(2, end).split(',')) {
      if (word === '') continue;
      if (!Object.hasOwn(MAGIC, word)) throw new BadPathspec('unknown pathspec magic');
      magic.add(word as Magic);
    }
    return { magic, rest: sliceBytes(spec, end + 1) };
  }
  let at = 1;
  for (; '/!^'.includes(spec[at] ?? ' '); at++) magic.add(spec[at] === '/' ? 'top' : 'exclude');
  return { magic, rest: sliceBytes(spec, spec[at] === ':' ? at + 1 : at) };
}

/**
 * Removes `.` segments, repeated slashes and leading slashes from a path. A final slash is kept, because it restricts
 * the pathspec to the content of a folder.
 */
function normalize(path: ByteString): ByteString {
  const names = splitBytes(path, '/');
  const isFolder = names.length > 1 && (names.at(-1) === '' || names.at(-1) === '.');
  const kept = names.filter((name) => name !== '' && name !== '.');
  if (kept.includes(PARENT)) throw new BadPathspec('a path leads outside of the repository');
  return kept.length === 0 ? NO_BYTES : concatBytes(joinBytes(kept, '/'), isFolder ? SLASH : NO_BYTES);
}

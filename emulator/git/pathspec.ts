import type { ByteString } from './bytes.js';
import { MOST_PATTERN_BYTES, Wildmatch } from './wildmatch.js';

export const MOST_PATHSPECS = 100;

/** Thrown for a path filter that Git would not take; the message says why. */
export class BadPathspec extends Error {
  override readonly name = 'BadPathspec';
}

/** Long magic words by their short form (gitglossary, "pathspec"). `top` and `:` add nothing: paths start at the root here. */
const MAGIC = {
  top: '/',
  exclude: '!^',
  literal: '',
  icase: '',
  glob: '',
} as const;

type Magic = keyof typeof MAGIC;

/** One path filter: what it matches as a path or folder, and as a pattern. */
interface Pathspec {
  readonly path: ByteString;
  readonly pattern: Wildmatch | undefined;
  /** The part before the first wildcard, which every match starts with. */
  readonly prefix: ByteString;
  readonly isExclude: boolean;
  readonly ignoreCase: boolean;
}

export interface PathspecFilter {
  matches(path: ByteString): boolean;
  /** Whether anything below the folder can match: if not, a walk need not enter it. */
  mayHold(folder: ByteString): boolean;
}

const EVERYTHING: PathspecFilter = { matches: () => true, mayHold: () => true };

/**
 * The filter of a list of pathspecs, as `git ls-files -- <pathspec>…` reads them at the root of the tree: a file by its
 * path, everything in a folder by the folder's, or a wildmatch pattern in which `*` crosses slashes. `:(glob)`,
 * `:(icase)`, `:(literal)`, `:(top)`, `:(exclude)` and their short forms work; `:(attr)` does not. A slash at the start
 * and `./` are dropped. No pathspec at all matches everything. Throws `BadPathspec`.
 */
export function compilePathspecs(specs: readonly ByteString[]): PathspecFilter {
  if (specs.length === 0) return EVERYTHING;
  if (specs.length > MOST_PATHSPECS) throw new BadPathspec(`more than ${MOST_PATHSPECS} paths`);
  const compiled = specs.map(compilePathspec);
  const excludes = compiled.filter(({ isExclude }) => isExclude);
  const includes = compiled.filter(({ isExclude }) => !isExclude);
  return {
    matches: (path) =>
      (includes.length === 0 || includes.some((spec) => isMatch(spec, path))) &&
      !excludes.some((spec) => isMatch(spec, path)),
    mayHold: (folder) => includes.length === 0 || includes.some((spec) => mayHold(spec, folder)),
  };
}

function compilePathspec(spec: ByteString): Pathspec {
  if (spec.length > MOST_PATTERN_BYTES) throw new BadPathspec(`a path is longer than ${MOST_PATTERN_BYTES} bytes`);
  if (spec === '') throw new BadPathspec('a path is empty; the root is `.`');
  const { magic, rest } = readMagic(spec);
  if (magic.has('glob') && magic.has('literal')) throw new BadPathspec('`glob` and `literal` exclude each other');
  const path = normalize(rest);
  const ignoreCase = magic.has('icase');
  const wildcard = magic.has('literal') ? -1 : path.search(/[*?[\\]/);
  return {
    path: ignoreCase ? fold(path) : path,
    pattern: wildcard < 0 ? undefined : new Wildmatch(path, { pathname: magic.has('glob'), ignoreCase }),
    prefix: ignoreCase
      ? fold(wildcard < 0 ? path : path.slice(0, wildcard))
      : wildcard < 0
        ? path
        : path.slice(0, wildcard),
    isExclude: magic.has('exclude'),
    ignoreCase,
  };
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
    return { magic, rest: spec.slice(end + 1) };
  }
  let at = 1;
  for (; '/!^'.includes(spec[at] ?? ' '); at++) magic.add(spec[at] === '/' ? 'top' : 'exclude');
  return { magic, rest: spec.slice(spec[at] === ':' ? at + 1 : at) };
}

/** Drops `.` segments and doubled or leading slashes; a slash at the end stays, and asks for a folder. */
function normalize(path: ByteString): ByteString {
  const names = path.split('/');
  const isFolder = names.length > 1 && (names.at(-1) === '' || names.at(-1) === '.');
  const kept = names.filter((name) => name !== '' && name !== '.');
  if (kept.includes('..')) throw new BadPathspec('a path leads outside of the repository');
  return kept.length === 0 ? '' : kept.join('/') + (isFolder ? '/' : '');
}

function isMatch({ path, pattern, ignoreCase }: Pathspec, candidate: ByteString): boolean {
  const folded = ignoreCase ? fold(candidate) : candidate;
  return isAtOrBelow(folded, path) || (pattern?.matches(candidate) ?? false);
}

function isAtOrBelow(path: ByteString, folder: ByteString): boolean {
  if (folder === '') return true;
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder.endsWith('/') || path[folder.length] === '/';
}

function mayHold({ path, prefix, pattern, ignoreCase }: Pathspec, folder: ByteString): boolean {
  const below = `${ignoreCase ? fold(folder) : folder}/`;
  if (isAtOrBelow(below, path) || path.startsWith(below)) return true;
  return pattern !== undefined && (prefix.startsWith(below) || below.startsWith(prefix));
}

function fold(text: ByteString): ByteString {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

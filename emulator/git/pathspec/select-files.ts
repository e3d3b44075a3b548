import { requestLimit } from '../limits/request-limits.js';
import type { ByteString } from '../object/bytes.js';
import { parseGlob } from './glob.js';
import { type Condition, PathMatcher, type PathPattern } from './path-matcher.js';
import { BadPathspec, type Pathspec, parsePathspec } from './pathspec.js';

/** Lists of patterns that choose files. A list that is empty chooses all. */
export interface FileSelection {
  /** Pathspecs: a file, a folder with all it holds, or a pattern. */
  readonly paths?: readonly ByteString[] | undefined;
  readonly includeGlobs?: readonly ByteString[] | undefined;
  /** Exclusion wins. */
  readonly excludeGlobs?: readonly ByteString[] | undefined;
  /** With or without their dot, as they are spelt. */
  readonly extensions?: readonly ByteString[] | undefined;
}

export type SelectionList = keyof FileSelection;

/** Thrown for lists that are longer than their bounds, or hold what is no pattern; the message says why. */
export class BadSelection extends Error {
  override readonly name = 'BadSelection';
  constructor(
    /** Completes the sentence "<the list> …". */
    message: string,
    /** The list at fault; undefined where it is all of them together. */
    readonly list?: SelectionList,
  ) {
    super(message);
  }
}

const NAMES = {
  paths: 'path',
  includeGlobs: 'glob',
  excludeGlobs: 'glob',
  extensions: 'extension',
} as const satisfies Record<SelectionList, string>;

/** The files that pass every filter given; undefined where all do. Throws `BadSelection`. */
export function selectFiles(selection: FileSelection): PathMatcher | undefined {
  checkBounds(selection);
  const { paths = [], includeGlobs = [], excludeGlobs = [], extensions = [] } = selection;
  const pathspecs = readPathspecs(paths);
  const included = pathspecs.filter(({ isExclude }) => !isExclude);
  const excluded = pathspecs.filter(({ isExclude }) => isExclude);
  const conditions: readonly (Condition | undefined)[] = [
    condition(extensions, (list) => list.map(ending)),
    condition(included, (list) => list.flatMap(({ patterns }) => patterns)),
    condition(excluded, (list) => list.flatMap(({ patterns }) => patterns), true),
    condition(includeGlobs, parseGlobs),
    condition(excludeGlobs, parseGlobs, true),
  ];
  const given = conditions.filter((each) => each !== undefined);
  return given.length === 0 ? undefined : new PathMatcher(given);
}

/** Nothing but what is at this path. */
export function selectPath(path: ByteString): PathMatcher {
  const tokens = Array.from(path, (char) => char.charCodeAt(0));
  return new PathMatcher([{ patterns: [{ tokens, ignoreCase: false, ends: [] }], refuses: false }]);
}

function readPathspecs(paths: readonly ByteString[]): Pathspec[] {
  try {
    return paths.map(parsePathspec);
  } catch (error) {
    throw error instanceof BadPathspec ? new BadSelection(`is wrong: ${error.message}`, 'paths') : error;
  }
}

function condition<T>(
  list: readonly T[],
  parse: (list: readonly T[]) => readonly PathPattern[],
  refuses = false,
): Condition | undefined {
  return list.length === 0 ? undefined : { patterns: parse(list), refuses };
}

function parseGlobs(globs: readonly ByteString[]): PathPattern[] {
  return globs.map(parseGlob).filter((pattern) => pattern !== undefined);
}

function ending(extension: ByteString): PathPattern {
  const text = extension.startsWith('.') ? extension : `.${extension}`;
  return { tokens: ['starstar', ...Array.from(text, (char) => char.charCodeAt(0))], ignoreCase: false, ends: [] };
}

function checkBounds(selection: FileSelection): void {
  const most = requestLimit('globs');
  const longest = requestLimit('globBytes');
  const together = requestLimit('globsBytes');
  let bytes = 0;
  for (const [name, noun] of Object.entries(NAMES)) {
    const list = name as SelectionList;
    const patterns = selection[list] ?? [];
    if (patterns.length > most) throw new BadSelection(`holds more than ${most} patterns`, list);
    for (const pattern of patterns) {
      if (pattern.length > longest) {
        throw new BadSelection(`holds a ${noun} longer than ${longest} bytes`, list);
      }
      if (list !== 'extensions' && (pattern === '' || pattern === '/')) {
        throw new BadSelection('holds an empty pattern', list);
      }
      bytes += pattern.length;
    }
  }
  if (bytes > together) throw new BadSelection(`hold more than ${together} bytes of patterns`);
}

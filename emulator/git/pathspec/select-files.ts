import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import type { ByteString } from '../object/bytes.js';
import { parseGlob } from './glob.js';
import { PathMatcher, type PathPattern } from './path-matcher.js';
import { BadPathspec, type Pathspec, parsePathspec } from './pathspec.js';

/**
 * Lists of patterns with which a request selects files of a tree. An empty or undefined list does not restrict the
 * selection.
 */
export interface FileSelection {
  /** Pathspecs as in Git: paths of files, paths of folders (which select their content), or patterns. */
  readonly paths?: readonly ByteString[] | undefined;
  readonly includeGlobs?: readonly ByteString[] | undefined;
  /** Globs of files to leave out, even if another list selects them. */
  readonly excludeGlobs?: readonly ByteString[] | undefined;
  /** File extensions, with or without the dot. They are compared case-sensitively. */
  readonly extensions?: readonly ByteString[] | undefined;
}

export type SelectionList = keyof FileSelection;

/** Error for a list that exceeds a limit or contains an invalid pattern. The message states the reason. */
export class BadSelection extends Error {
  override readonly name = 'BadSelection';
  constructor(
    /** End of a sentence. The caller puts the name of the list before it. */
    message: string,
    /** Name of the invalid list. Undefined if all lists together exceed a limit. */
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

/**
 * Returns the matcher for the files that satisfy all given lists. Returns undefined if no list restricts the files.
 * Throws `BadSelection`.
 */
export function* selectFiles(selection: FileSelection): Steps<PathMatcher | undefined> {
  checkBounds(selection);
  const { paths = [], includeGlobs = [], excludeGlobs = [], extensions = [] } = selection;
  const pathspecs = yield* parseEach(paths, readPathspec);
  const [included, excluded] = [false, true].map((isExclude) =>
    pathspecs.filter((pathspec) => pathspec.isExclude === isExclude),
  );
  const lists: readonly (readonly [patterns: readonly (readonly PathPattern[])[], refuses: boolean])[] = [
    [yield* parseEach(extensions, (extension) => [ending(extension)]), false],
    [included!.map(({ patterns }) => patterns), false],
    [excluded!.map(({ patterns }) => patterns), true],
    [yield* parseEach(includeGlobs, readGlob), false],
    [yield* parseEach(excludeGlobs, readGlob), true],
  ];
  const given = lists.filter(([patterns]) => patterns.length > 0);
  if (given.length === 0) return undefined;
  return yield* PathMatcher.compile(given.map(([patterns, refuses]) => ({ patterns: patterns.flat(), refuses })));
}

/** Returns a matcher that selects only the file at this path. */
export function selectPath(path: ByteString): Steps<PathMatcher> {
  const tokens = Array.from(path, (char) => char.charCodeAt(0));
  return PathMatcher.compile([{ patterns: [{ tokens, ignoreCase: false, ends: [] }], refuses: false }]);
}

function* parseEach<T>(list: readonly ByteString[], parse: (text: ByteString) => T): Steps<T[]> {
  const parsed: T[] = [];
  for (const text of list) {
    parsed.push(parse(text));
    yield text.length * COST.entry;
  }
  return parsed;
}

function readPathspec(path: ByteString): Pathspec {
  try {
    return parsePathspec(path);
  } catch (error) {
    throw error instanceof BadPathspec ? new BadSelection(`is wrong: ${error.message}`, 'paths') : error;
  }
}

function readGlob(glob: ByteString): PathPattern[] {
  const pattern = parseGlob(glob);
  return pattern === undefined ? [] : [pattern];
}

function ending(extension: ByteString): PathPattern {
  const text = extension.startsWith('.') ? extension : `.${extension}`;
  return { tokens: ['starstar', ...Array.from(text, (char) => char.charCodeAt(0))], ignoreCase: false, ends: [] };
}

function checkBounds(selection: FileSelection): void {
  const max = requestLimit('globs');
  const longest = requestLimit('globBytes');
  const together = requestLimit('globsBytes');
  let bytes = 0;
  for (const [name, noun] of Object.entries(NAMES)) {
    const list = name as SelectionList;
    const patterns = selection[list] ?? [];
    if (patterns.length > max) throw new BadSelection(`has more than ${max} patterns`, list);
    for (const pattern of patterns) {
      if (pattern.length > longest) {
        throw new BadSelection(`has a ${noun} longer than ${longest} bytes`, list);
      }
      if (list !== 'extensions' && (pattern === '' || pattern === '/')) {
        throw new BadSelection('has an empty pattern', list);
      }
      bytes += pattern.length;
    }
  }
  if (bytes > together) throw new BadSelection(`have more than ${together} bytes of patterns`);
}

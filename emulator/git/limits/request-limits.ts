/**
 * Limits of a single request that no option can change. Each entry contains the maximum, its unit, and what it limits.
 * Options can change the limits for the sizes of bodies and stores, see `config/limits.ts`.
 */
const REQUEST_LIMITS = {
  globs: [100, 'patterns', 'maximum number of entries in a list of globs, paths or extensions'],
  globBytes: [4096, 'bytes', 'maximum length of a glob, path or extension; longer paths cannot be checked out'],
  globsBytes: [
    32 * 1024,
    'bytes',
    'maximum length of all such lists of a request together, because the cost of matching grows with it',
  ],
  expressionLength: [1024, 'characters', 'maximum length of a regular expression'],
  expressionSize: [
    20_000,
    'instructions',
    'maximum size of a regular expression compiled by RE2, estimated before compiling, which takes up to 10 ms',
  ],
  revisionBytes: [8192, 'bytes', 'maximum length of a revision'],
  branchBytes: [1024, 'bytes', 'maximum length of the name of a branch or tag created through the API'],
  blameRanges: [16, 'ranges', 'maximum number of ranges of a blame'],
  blameRangeLength: [
    4096,
    'characters',
    'maximum length of a range of a blame, which may have two regular expressions',
  ],
  grepMatches: [
    10_000,
    'matches',
    'maximum number of matches on a page of a search, and of one file on it; larger values are reduced',
  ],
  grepLines: [
    2000,
    'lines',
    'maximum number of lines on a page of a search, and around each match; larger values are reduced',
  ],
  grepCharacters: [
    8 << 20,
    'characters',
    'maximum length of all lines on a page of a search; a page has at least one line of any length',
  ],
  grepFileBytes: [16 << 20, 'bytes', 'maximum size of a searched file; Git uses core.bigFileThreshold'],
  diffEntries: [
    2_000_000,
    'entries',
    'maximum number of tree entries that a diff reads, because few objects can form huge trees',
  ],
  diffRenames: [
    1000,
    'files',
    'renames are detected only for at most the square of this number of file pairs: diff.renameLimit',
  ],
  mergeRenames: [7000, 'files', 'the same for a merge: merge.renameLimit'],
  patchPlaces: [
    20_000_000,
    'places',
    'maximum number of positions at which all hunks of a patch are tried if they do not match where they should',
  ],
  patchFileBytes: [256 << 20, 'bytes', 'maximum size of a file created by a binary patch'],
  patchLineBytes: [64 << 10, 'bytes', 'maximum length of a line of a patch header, and of a quoted name'],
  prefixBytes: [4096, 'bytes', 'maximum length of the prefix of the paths in an archive'],
  gitmodulesBytes: [
    8 << 20,
    'bytes',
    'maximum size of a `.gitmodules` that fsck checks; Git uses core.bigFileThreshold',
  ],
  gitattributesBytes: [100 << 20, 'bytes', 'maximum size of a `.gitattributes` that Git reads and fsck accepts'],
  gitattributesLineBytes: [
    2047,
    'bytes',
    'maximum length of a line in `.gitattributes` that Git reads and fsck accepts',
  ],
  fsckNameBytes: [4096, 'bytes', 'maximum length of a name in a tree that fsck accepts, as in Git 2.43 and newer'],
} as const satisfies Record<string, readonly [number, string, string]>;

export type RequestLimitName = keyof typeof REQUEST_LIMITS;

export function requestLimit(name: RequestLimitName): number {
  return REQUEST_LIMITS[name][0];
}

/**
 * Limits of a single request that no option sets: the maximum, its unit, and what it limits. Sizes of bodies and stores
 * are options, see `config/limits.ts`.
 */
const REQUEST_LIMITS = {
  globs: [100, 'patterns', 'most entries of one list of globs, paths or extensions'],
  globBytes: [4096, 'bytes', 'longest glob, path or extension; no longer path could be checked out'],
  globsBytes: [32 * 1024, 'bytes', 'all such lists of one request together; what matching a byte costs grows with it'],
  expressionLength: [1024, 'characters', 'longest regular expression'],
  expressionSize: [20_000, 'instructions', 'most that RE2 may make of one, counted before it does: it takes 10 ms'],
  revisionBytes: [8192, 'bytes', 'longest revision'],
  branchBytes: [1024, 'bytes', 'longest name of a branch or tag that is made by the API'],
  blameRanges: [16, 'ranges', 'most ranges of a blame'],
  blameRangeLength: [4096, 'characters', 'longest range of a blame: two expressions and what is around them'],
  grepMatches: [10_000, 'matches', 'most on one page of a search, and of one file on it; more are cut to this'],
  grepLines: [2000, 'lines', 'most lines on one page of a search, and around each match; more are cut to this'],
  grepCharacters: [
    8 << 20,
    'characters',
    'of all lines on one page of a search; one line is given whatever its length',
  ],
  grepFileBytes: [16 << 20, 'bytes', 'largest file that is searched; Git searches up to core.bigFileThreshold'],
  diffEntries: [2_000_000, 'entries', 'of two trees that a diff looks at; few objects can make endless trees'],
  diffRenames: [1000, 'files', 'beyond this squared, pairs of files are not compared for renames: diff.renameLimit'],
  mergeRenames: [7000, 'files', 'the same of a merge: merge.renameLimit'],
  patchPlaces: [20_000_000, 'places', 'that all hunks of a patch are tried at, when they are not where they say'],
  patchFileBytes: [256 << 20, 'bytes', 'largest file that a binary patch makes'],
  patchLineBytes: [64 << 10, 'bytes', 'of a line of a patch header, and of a quoted name, that are read'],
  prefixBytes: [4096, 'bytes', 'longest prefix of the paths in an archive'],
  gitmodulesBytes: [8 << 20, 'bytes', 'largest `.gitmodules` that fsck checks; for Git core.bigFileThreshold'],
  gitattributesBytes: [100 << 20, 'bytes', 'largest `.gitattributes` that Git reads and fsck takes'],
  gitattributesLineBytes: [2047, 'bytes', 'longest line of a `.gitattributes` that Git reads and fsck takes'],
  fsckNameBytes: [4096, 'bytes', 'longest name in a tree that fsck takes; for Git from 2.43 on'],
} as const satisfies Record<string, readonly [number, string, string]>;

export type RequestLimitName = keyof typeof REQUEST_LIMITS;

export function requestLimit(name: RequestLimitName): number {
  return REQUEST_LIMITS[name][0];
}

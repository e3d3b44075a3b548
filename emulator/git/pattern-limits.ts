/** Bounds of the lists of patterns that choose the files of one request: value, unit, reason. */
export const PATTERN_LIMITS = {
  maxPatterns: [100, 'patterns', 'most entries of one list of globs, paths or extensions'],
  maxPatternBytes: [4096, 'bytes', 'longest glob, path or extension; no longer path could be checked out'],
  maxPatternsBytes: [32 * 1024, 'bytes', 'all lists of one request together; what matching a byte costs grows with it'],
} as const satisfies Record<string, readonly [number, string, string]>;

/** What a client may ask for in one request, of things that no other limit bounds: default, unit, reason. */
export const REQUEST_LIMITS = {
  patternLength: [1024, 'characters', 'longest regular expression'],
  patternSize: [20_000, 'instructions', 'most that RE2 may make of one, counted before it does: it takes 10 ms'],
  blameRanges: [16, 'ranges', 'most ranges of a blame'],
  blameRangeLength: [4096, 'characters', 'longest range of a blame: two expressions and what is around them'],
  grepMatches: [10_000, 'matches', 'most on one page of a search, and of one file on it; more are cut to this'],
  grepLines: [2000, 'lines', 'most lines on one page of a search, and around each match; more are cut to this'],
  grepCharacters: [
    8 << 20,
    'characters',
    'of all lines on one page of a search; one line is given whatever its length',
  ],
} as const satisfies Record<string, readonly [number, string, string]>;

export type RequestLimitName = keyof typeof REQUEST_LIMITS;

export function requestLimit(name: RequestLimitName): number {
  return REQUEST_LIMITS[name][0];
}

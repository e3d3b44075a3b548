import { z } from 'zod';
import { type ByteString, bytesOf } from '../git/bytes.js';
import { type GlobFault, globFault } from '../git/glob.js';
import { problem } from '../http/problem.js';

export const globList = z.array(z.string()).optional();

const FAULTS: Record<GlobFault, string> = {
  'too-many': 'holds too many patterns',
  'too-long': 'holds a pattern that is too long',
  empty: 'holds an empty pattern',
};

/** Glob patterns of a request; throws `bad_request` for what no path can be matched against. */
export function readGlobs(globs: readonly string[] | undefined, what: string): ByteString[] {
  const patterns = (globs ?? []).map(bytesOf);
  const fault = globFault(patterns);
  if (fault !== undefined) throw problem('bad_request', `${what} ${FAULTS[fault]}.`);
  return patterns;
}

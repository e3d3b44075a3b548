import type { Ambiguity } from './ambiguity.js';
import { AUTHENTICATION_GAPS } from './authentication-gaps.js';
import { CONTRADICTIONS } from './contradictions.js';
import { GAPS } from './gaps.js';

const AMBIGUITIES = { ...CONTRADICTIONS, ...GAPS, ...AUTHENTICATION_GAPS };

/** Permanent code of an ambiguity, such as `A01`. An ambiguity is a contradiction or gap of the specification. */
export type AmbiguityCode = keyof typeof AMBIGUITIES;

export interface AmbiguityRow extends Ambiguity {
  readonly code: AmbiguityCode;
  readonly kind: 'contradiction' | 'gap';
}

/** Returns all ambiguities of the specification (contradictions and gaps), ordered by code. */
export function ambiguityRows(): readonly AmbiguityRow[] {
  const rows = Object.entries(AMBIGUITIES).map(([code, row]) => ({
    code: code as AmbiguityCode,
    kind: code in CONTRADICTIONS ? ('contradiction' as const) : ('gap' as const),
    ...row,
  }));
  return rows.sort((one, other) => (one.code < other.code ? -1 : 1));
}

/**
 * Returns the key under which reports and target files record how a target resolves an ambiguity, such as `A09 already
 * matches`. `where` names the request, because a target may behave differently for each request.
 */
export function recordKey(code: AmbiguityCode, where: string): string {
  return `${code} ${where}`;
}

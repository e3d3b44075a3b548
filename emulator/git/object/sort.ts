import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import type { ByteString } from './bytes.js';

/** Number of items that are sorted or merged before the generator yields again, so that other requests can run. */
const UNIT = 4096;

/**
 * Returns `items` sorted by `compare`. The sort is stable, like `Array.prototype.sort`. It is a merge sort that yields
 * between pieces of work, so that other requests can run.
 */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += UNIT) {
    if (at > 0) yield UNIT * COST.entry;
    runs.push(items.slice(at, at + UNIT).sort(compare));
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) longer.push(yield* merge(runs[at]!, runs[at + 1] ?? [], compare));
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merge<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (merged.length % UNIT === UNIT - 1) yield UNIT * COST.entry;
    const isFirst = j === b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0);
    merged.push(isFirst ? a[i++]! : b[j++]!);
  }
  return merged;
}

/** Compares two byte strings by their bytes, as `<` does. Returns -1, 0 or 1. */
export function byBytes(a: ByteString, b: ByteString): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

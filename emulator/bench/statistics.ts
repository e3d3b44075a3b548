/**
 * Returns a quantile of the values, by linear interpolation. `share` is from 0 to 1; 0.5 gives the median. NaN for an
 * empty list.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

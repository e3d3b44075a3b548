/** Returns the value below which `share` (0 to 1) of the values lie, by linear interpolation. NaN for an empty list. */
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

/**
 * Returns the median of ours / native over the rounds. Both sides of a round ran one after the other, so a temporary
 * slowdown of the machine affects both and cancels out.
 */
export function pairedRatio(ours: readonly number[], native: readonly number[]): number {
  const pairs = Math.min(ours.length, native.length);
  return median(Array.from({ length: pairs }, (_, round) => ours[round]! / native[round]!));
}

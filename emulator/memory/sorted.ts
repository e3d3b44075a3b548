/**
 * Finds the last of the first `length` elements of an ascending array that is at most `value`. Returns its index; -1 if
 * none. Uses binary search.
 */
export function lastUpTo(sorted: ArrayLike<number>, value: number, length = sorted.length): number {
  let low = -1;
  let high = length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

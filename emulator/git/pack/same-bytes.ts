/** Bytes that are compared by a loop before the machine is asked. */
const SHORT = 32;

/** How many bytes from `oneAt` and `otherAt` on are the same, of `most`. */
export function sameBytes(one: Buffer, oneAt: number, other: Buffer, otherAt: number, most: number): number {
  let same = 0;
  const soon = Math.min(most, SHORT);
  while (same < soon && one[oneAt + same] === other[otherAt + same]) same++;
  if (same < soon) return same;
  // What is the same so far mostly goes on for long: asked in pieces that double, and where it ends, that halve.
  for (let count = SHORT, isGrowing = true; same < most; ) {
    count = Math.min(count, most - same);
    if (isEqual(one, oneAt + same, other, otherAt + same, count)) {
      same += count;
      if (isGrowing) count *= 2;
    } else if (count <= SHORT) break;
    else {
      isGrowing = false;
      count >>>= 1;
    }
  }
  while (same < most && one[oneAt + same] === other[otherAt + same]) same++;
  return same;
}

/** The same of what ends at `oneEnd` and `otherEnd`. */
export function sameBytesBefore(one: Buffer, oneEnd: number, other: Buffer, otherEnd: number, most: number): number {
  let same = 0;
  for (let count = SHORT, isGrowing = true; same < most; ) {
    count = Math.min(count, most - same);
    if (isEqual(one, oneEnd - same - count, other, otherEnd - same - count, count)) {
      same += count;
      if (isGrowing) count *= 2;
    } else if (count <= SHORT) break;
    else {
      isGrowing = false;
      count >>>= 1;
    }
  }
  while (same < most && one[oneEnd - same - 1] === other[otherEnd - same - 1]) same++;
  return same;
}

function isEqual(one: Buffer, oneAt: number, other: Buffer, otherAt: number, count: number): boolean {
  return one.compare(other, otherAt, otherAt + count, oneAt, oneAt + count) === 0;
}

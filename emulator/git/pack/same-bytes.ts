/** Number of bytes compared in a loop before `Buffer.compare` is called. The call is slow for few bytes. */
const SHORT = 32;

/**
 * Returns the number of equal bytes from offset `oneAt` of `one` and offset `otherAt` of `other` on. At most `max`
 * bytes are compared.
 */
export function sameBytes(one: Buffer, oneAt: number, other: Buffer, otherAt: number, max: number): number {
  let same = 0;
  const soon = Math.min(max, SHORT);
  while (same < soon && one[oneAt + same] === other[otherAt + same]) same++;
  if (same < soon) return same;
  // Galloping search: the compared pieces double in length until a difference is found, and then halve. Doubling is
  // fast, because a match of 32 bytes mostly continues much further.
  for (let count = SHORT, isGrowing = true; same < max; ) {
    count = Math.min(count, max - same);
    if (isEqual(one, oneAt + same, other, otherAt + same, count)) {
      same += count;
      if (isGrowing) count *= 2;
    } else if (count <= SHORT) break;
    else {
      isGrowing = false;
      count >>>= 1;
    }
  }
  while (same < max && one[oneAt + same] === other[otherAt + same]) same++;
  return same;
}

/**
 * Returns the number of equal bytes before offset `oneEnd` of `one` and offset `otherEnd` of `other`. At most `max`
 * bytes are compared, backwards from these offsets.
 */
export function sameBytesBefore(one: Buffer, oneEnd: number, other: Buffer, otherEnd: number, max: number): number {
  let same = 0;
  for (let count = SHORT, isGrowing = true; same < max; ) {
    count = Math.min(count, max - same);
    if (isEqual(one, oneEnd - same - count, other, otherEnd - same - count, count)) {
      same += count;
      if (isGrowing) count *= 2;
    } else if (count <= SHORT) break;
    else {
      isGrowing = false;
      count >>>= 1;
    }
  }
  while (same < max && one[oneEnd - same - 1] === other[otherEnd - same - 1]) same++;
  return same;
}

function isEqual(one: Buffer, oneAt: number, other: Buffer, otherAt: number, count: number): boolean {
  return one.compare(other, otherAt, otherAt + count, oneAt, oneAt + count) === 0;
}

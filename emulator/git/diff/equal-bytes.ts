/** So few bytes are compared by a loop: a call takes as long. */
const FEW = 64;
/** So many are compared at once at most, and few before. */
const MANY = 1 << 16;

/** Bytes that are equal from `aStart` and `bStart` on, at most `most`. */
export function equalBytes(a: Buffer, aStart: number, b: Buffer, bStart: number, most: number): number {
  const few = Math.min(most, FEW);
  let length = 0;
  while (length < few && a[aStart + length] === b[bStart + length]) length++;
  if (length < FEW) return length;
  let size = FEW;
  while (length + size <= most && isEqual(a, aStart + length, b, bStart + length, size)) {
    length += size;
    if (size < MANY) size *= 2;
  }
  for (size /= 2; size >= FEW; size /= 2) {
    if (length + size <= most && isEqual(a, aStart + length, b, bStart + length, size)) length += size;
  }
  while (length < most && a[aStart + length] === b[bStart + length]) length++;
  return length;
}

/** Bytes that are equal up to `aEnd` and `bEnd`, at most `most`. */
export function equalBytesBefore(a: Buffer, aEnd: number, b: Buffer, bEnd: number, most: number): number {
  let length = 0;
  let size = FEW;
  while (length + size <= most && isEqual(a, aEnd - length - size, b, bEnd - length - size, size)) {
    length += size;
    if (size < MANY) size *= 2;
  }
  for (size /= 2; size >= FEW; size /= 2) {
    if (length + size <= most && isEqual(a, aEnd - length - size, b, bEnd - length - size, size)) length += size;
  }
  while (length < most && a[aEnd - 1 - length] === b[bEnd - 1 - length]) length++;
  return length;
}

function isEqual(a: Buffer, aAt: number, b: Buffer, bAt: number, size: number): boolean {
  return a.compare(b, bAt, bAt + size, aAt, aAt + size) === 0;
}

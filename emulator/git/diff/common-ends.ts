const BLOCK = 2048;
const LF = 10;

/** How many lines of `like` the file starts with, and how many further ones it ends with. */
export function commonEnds(
  bytes: Buffer,
  like: { readonly bytes: Buffer; readonly starts: Int32Array },
): { head: number; tail: number } {
  const { bytes: other, starts } = like;
  const count = starts.length - 1;
  const prefix = commonPrefix(bytes, other, Math.min(bytes.length, other.length));
  let head = lineAt(starts, prefix + 1) - 1;
  // A last line without a line feed is common only if both files end there.
  const isCut = head > 0 && other[starts[head]! - 1] !== LF && bytes.length !== other.length;
  if (isCut) head--;
  const headBytes = starts[head]!;
  const suffix = commonSuffix(bytes, other, Math.min(bytes.length, other.length) - headBytes);
  const suffixStart = bytes.length - suffix;
  const isLineStart = suffixStart === headBytes || bytes[suffixStart - 1] === LF;
  const firstTail = lineAt(starts, other.length - suffix + (isLineStart ? 0 : 1));
  return { head, tail: Math.max(0, count - firstTail) };
}

/** The first line that starts at byte `at` or later; one more than there are lines if none does. */
function lineAt(starts: Int32Array, at: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function commonPrefix(a: Buffer, b: Buffer, most: number): number {
  let length = 0;
  while (length + BLOCK <= most && a.compare(b, length, length + BLOCK, length, length + BLOCK) === 0) length += BLOCK;
  while (length < most && a[length] === b[length]) length++;
  return length;
}

function commonSuffix(a: Buffer, b: Buffer, most: number): number {
  let length = 0;
  while (length + BLOCK <= most) {
    const [aEnd, bEnd] = [a.length - length, b.length - length];
    if (a.compare(b, bEnd - BLOCK, bEnd, aEnd - BLOCK, aEnd) !== 0) break;
    length += BLOCK;
  }
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length++;
  return length;
}

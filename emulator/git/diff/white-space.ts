/** Returns true for a byte that Git treats as white space: space, tab, line feed or carriage return. */
export function isSpace(byte: number): boolean {
  return byte === 32 || byte === 9 || byte === 10 || byte === 13;
}

/**
 * Copies the line in `bytes` from `start` to `end` (exclusive) to `target`. Each run of white space becomes one space,
 * and trailing white space is removed. Returns the number of bytes written.
 */
export function squeezeSpace(bytes: Buffer, start: number, end: number, target: Buffer): number {
  let size = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (!isSpace(byte)) target[size++] = byte;
    else if (size === 0 || target[size - 1] !== 32) target[size++] = 32;
  }
  return size > 0 && target[size - 1] === 32 ? size - 1 : size;
}

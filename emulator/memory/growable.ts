type TypedArray = Uint8Array | Uint16Array | Int32Array | Uint32Array;

/** Returns a copy of `array` with `length` elements. The copy is truncated, or padded with zeros. */
export function resized<T extends TypedArray>(array: T, length: number): T {
  const copy = new (array.constructor as new (length: number) => T)(length);
  copy.set(array.subarray(0, length) as never);
  return copy;
}

/**
 * Returns `array` if it has at least `length` elements. Otherwise returns a larger copy, padded with zeros. The copy is
 * at least twice as long as `array`, so that repeated growth takes linear time in total.
 */
export function withRoom<T extends TypedArray>(array: T, length: number): T {
  if (length <= array.length) return array;
  return resized(array, Math.max(length, array.length * 2));
}

/**
 * Returns the length to which an array with `length` elements should grow when it is full. The result is `expected`,
 * the number of elements that the array will probably contain, but at least 2 times and at most 16 times `length`. The
 * maximum exists because `expected` may be much too large: a client can announce many objects and send few.
 *
 * One large step copies less than several small ones, and leaves fewer freed blocks, which are hard to use again.
 */
export function grownLength(length: number, expected: number): number {
  return Math.max(length * 2, Math.min(expected, length * 16));
}

/** Variant of `withRoom` for a Buffer. The content of the added part is undefined, because it is not initialized. */
export function bufferWithRoom(buffer: Buffer, length: number): Buffer {
  if (length <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(length, buffer.length * 2));
  buffer.copy(larger);
  return larger;
}

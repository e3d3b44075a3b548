type TypedArray = Uint8Array | Uint16Array | Int32Array | Uint32Array;

/** A copy of `array` with `length` elements: its first ones, and zeros behind them. */
export function resized<T extends TypedArray>(array: T, length: number): T {
  const copy = new (array.constructor as new (length: number) => T)(length);
  copy.set(array.subarray(0, length) as never);
  return copy;
}

/** `array`, or a copy of it with room for `length` elements and for as many again. */
export function withRoom<T extends TypedArray>(array: T, length: number): T {
  if (length <= array.length) return array;
  return resized(array, Math.max(length, array.length * 2));
}

/** As `withRoom` for a Buffer whose free part may hold anything. */
export function bufferWithRoom(buffer: Buffer, length: number): Buffer {
  if (length <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(length, buffer.length * 2));
  buffer.copy(larger);
  return larger;
}

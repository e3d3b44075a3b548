type TypedArray = Uint8Array | Uint16Array | Int32Array | Uint32Array;

/** `array`, or a copy of it with room for `length` elements and for as many again. */
export function withRoom<T extends TypedArray>(array: T, length: number): T {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, array.length * 2));
  larger.set(array as never);
  return larger;
}

/** As `withRoom` for a Buffer whose free part may hold anything. */
export function bufferWithRoom(buffer: Buffer, length: number): Buffer {
  if (length <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(length, buffer.length * 2));
  buffer.copy(larger);
  return larger;
}

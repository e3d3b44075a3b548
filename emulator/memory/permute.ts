import { PIECE, PIECE_COST, type Steps } from '../schedule/steps.js';

/**
 * Reorders a part of `array`. Each element consists of `width` numbers. The part begins with the element `first` and
 * has as many elements as `order`. `order` contains for each new position the current index of its element, plus
 * `origin`. Nothing may use the part before the generator ends.
 *
 * `scratch` is temporary memory. It must have at least as many bytes as the part.
 */
export function* permute(
  array: Uint8Array | Uint16Array | Int32Array | Uint32Array,
  width: number,
  first: number,
  order: Int32Array,
  origin: number,
  scratch: ArrayBuffer,
): Steps<void> {
  const old = new (array.constructor as Uint8ArrayConstructor)(scratch, 0, order.length * width);
  old.set(array.subarray(first * width, (first + order.length) * width));
  for (let index = 0; index < order.length; index++) {
    const from = (order[index]! - origin - first) * width;
    const to = (first + index) * width;
    for (let offset = 0; offset < width; offset++) array[to + offset] = old[from + offset]!;
    if (index % PIECE === 0) yield PIECE_COST;
  }
}

import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';

/** Number of elements that are moved between two yields. */
const MOVED_AT_ONCE = 4096;

/**
 * Reorders a part of `array`. Each element consists of `width` numbers. The part begins with the element `first` and
 * has as many elements as `order`. `order` contains the current index of the element for each new position, plus
 * `origin`.
 *
 * `scratch` is overwritten. It must have at least as many bytes as the part.
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
    if (index % MOVED_AT_ONCE === MOVED_AT_ONCE - 1) yield MOVED_AT_ONCE * width * COST.operation;
  }
}

import type { Meter } from '../schedule/meter.js';

/** Number of elements that are moved between two checks for the end of the time slice. */
const MOVED_AT_ONCE = 16 * 1024;

/**
 * Reorders a part of `array`. Each element consists of `width` numbers. The part begins with the element `first` and
 * has as many elements as `order`. `order` contains the current index of the element for each new position.
 */
export async function permute(
  array: Uint8Array | Uint16Array | Int32Array | Uint32Array,
  width: number,
  first: number,
  order: Int32Array,
  meter: Meter,
): Promise<void> {
  const old = array.slice(first * width, (first + order.length) * width);
  for (let index = 0; index < order.length; index++) {
    const from = (order[index]! - first) * width;
    const to = (first + index) * width;
    for (let offset = 0; offset < width; offset++) array[to + offset] = old[from + offset]!;
    if (index % MOVED_AT_ONCE === MOVED_AT_ONCE - 1 && meter.shouldYield) await meter.yieldToEventLoop();
  }
}

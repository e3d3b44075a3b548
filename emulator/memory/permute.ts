import type { Meter } from '../schedule/meter.js';

/** Number of elements moved between two checks of the meter. */
const MOVED_AT_ONCE = 16 * 1024;

/**
 * Reorders elements of `width` numbers, from element `first` on. `order` lists their current indexes in the new order.
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

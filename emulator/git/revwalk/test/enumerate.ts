import type { Meter } from '../../../schedule/meter.js';
import { unlimited } from '../../../schedule/test/unlimited.js';
import type { EnumerateRequest } from '../enumerate.js';
import type { History } from '../history.js';

/** Returns the numbers of the objects that a fetch must send. */
export async function enumerate(history: History, request: EnumerateRequest, meter?: Meter): Promise<Int32Array> {
  return (await history.plan(request, meter ?? unlimited())).objects;
}

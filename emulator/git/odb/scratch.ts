import { bufferWithRoom } from '../memory/growable.js';
import { createInflater, type Inflater } from '../pack/inflater.js';

/** An arena larger than this is not kept for the next object. */
const KEPT_ARENA = 8 * 1024 * 1024;

/**
 * The tools of one thread of work: an inflater and memory to apply deltas in. Their content is good
 * until the next call that uses them, so nothing may be awaited in between.
 */
export class Scratch {
  #inflater: Inflater | undefined;
  #arena: Buffer = Buffer.alloc(0);

  get inflater(): Inflater {
    this.#inflater ??= createInflater();
    return this.#inflater;
  }

  /** At least `bytes` of memory that may hold anything. */
  arena(bytes: number): Buffer {
    if (bytes > KEPT_ARENA) return Buffer.allocUnsafeSlow(bytes);
    this.#arena = bufferWithRoom(this.#arena, bytes);
    return this.#arena;
  }
}

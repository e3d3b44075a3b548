import { bufferWithRoom } from '../../memory/growable.js';
import { createInflater, type Inflater } from '../pack/inflater.js';

/** An arena larger than this is not kept for the next object. */
const KEPT_ARENA = 8 * 1024 * 1024;

/** More integers than this are not kept for the next tree. */
const KEPT_CELLS = 1024 * 1024;

/**
 * The tools of one thread of work: an inflater and memory to apply deltas in. Their content is good
 * until the next call that uses them, so nothing may be awaited in between.
 */
export class Scratch {
  #inflater: Inflater | undefined;
  #arena: Buffer = Buffer.alloc(0);
  readonly #cells = [new Int32Array(0), new Int32Array(0)];

  get inflater(): Inflater {
    this.#inflater ??= createInflater();
    return this.#inflater;
  }

  /** One of two arrays, of at least so many integers that may be anything. */
  cells(which: number, count: number): Int32Array {
    const cells = this.#cells[which]!;
    if (cells.length >= count) return cells;
    const larger = new Int32Array(count * 2);
    if (count <= KEPT_CELLS) this.#cells[which] = larger;
    return larger;
  }

  /** At least `bytes` of memory that may hold anything. */
  arena(bytes: number): Buffer {
    if (bytes > KEPT_ARENA) return Buffer.allocUnsafeSlow(bytes);
    this.#arena = bufferWithRoom(this.#arena, bytes);
    return this.#arena;
  }
}

import { bufferWithRoom } from '../../memory/growable.js';
import { createInflater, type Inflater } from '../pack/inflater.js';

/** Maximum size in bytes of an arena that is kept for the next object. Deltas are applied in the memory of an arena. */
const KEPT_ARENA = 8 * 1024 * 1024;

/** Maximum number of integers of a tree entry array that is kept for the next tree. */
const KEPT_CELLS = 1024 * 1024;

/**
 * Reusable inflater (zlib decompressor) and memory for reading objects. They are reused, because allocating them for
 * each object is slow. The content is valid until the next call that uses them, so a caller must use the content before
 * it awaits anything.
 */
export class Scratch {
  #inflater: Inflater | undefined;
  #arena: Buffer = Buffer.alloc(0);
  readonly #cells = [new Int32Array(0), new Int32Array(0)];

  get inflater(): Inflater {
    this.#inflater ??= createInflater();
    return this.#inflater;
  }

  /**
   * Returns one of two arrays (`which` is 0 or 1) with at least `count` integers. With two arrays, one can be computed
   * from the other. The initial content is undefined.
   */
  cells(which: number, count: number): Int32Array {
    const cells = this.#cells[which]!;
    if (cells.length >= count) return cells;
    const larger = new Int32Array(count * 2);
    if (count <= KEPT_CELLS) this.#cells[which] = larger;
    return larger;
  }

  /** Returns memory of at least `bytes` bytes with undefined content. It is valid until the next call. */
  arena(bytes: number): Buffer {
    if (bytes > KEPT_ARENA) return Buffer.allocUnsafeSlow(bytes);
    this.#arena = bufferWithRoom(this.#arena, bytes);
    return this.#arena;
  }
}

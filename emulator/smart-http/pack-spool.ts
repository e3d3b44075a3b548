import { PackError } from '../git/pack/pack-error.js';
import { type MemoryBudget, StoreFull } from '../memory/memory-budget.js';

export interface SpoolOptions {
  /** Maximum size of a pack in bytes. */
  readonly most: number;
  /** Budget that provides the memory for the received bytes. */
  readonly budget: MemoryBudget;
  /**
   * Handling of the rest of a refused pack. `drop` reads and discards it, so that the client then reads the response.
   * `leave` stops reading.
   */
  readonly rest?: 'drop' | 'leave';
}

/**
 * Maximum size in bytes of a block (buffer) that collects received bytes. A large block has its own memory pages, which
 * return to the operating system when freed. Small pieces would be scattered over the heap and fragment it.
 */
const LARGEST_BLOCK = 64 * 1024 * 1024;

/**
 * Memory buffer for a received pack. The pack is received before the repository is locked for writing. A slow client
 * therefore blocks no other writer, and a client that disconnects has changed nothing.
 */
export class PackSpool implements Disposable {
  /**
   * Blocks with the received bytes. All are full except the last, which has `#used` bytes. Each new block is as long as
   * all earlier ones together, but at most `LARGEST_BLOCK`.
   */
  readonly #blocks: (Buffer | undefined)[] = [];
  #used = 0;
  #held = 0;
  #refusal: PackError | StoreFull | undefined;

  private constructor(private readonly options: SpoolOptions) {}

  /**
   * Receives the pack from `source`. If the pack is too large or exceeds the memory budget, sets `refusal` and handles
   * the rest as the option `rest` says.
   */
  static async fill(source: AsyncIterable<Uint8Array>, options: SpoolOptions): Promise<PackSpool> {
    const spool = new PackSpool(options);
    try {
      for await (const piece of source) {
        spool.#add(piece);
        if (spool.#refusal !== undefined && options.rest === 'leave') break;
      }
      return spool;
    } catch (error) {
      spool[Symbol.dispose]();
      throw error;
    }
  }

  /** Error that refuses the pack; undefined if the pack was received completely. */
  get refusal(): PackError | StoreFull | undefined {
    return this.#refusal;
  }

  /** Number of received bytes that are still held. */
  get size(): number {
    return this.#held;
  }

  /** Yields the received bytes block by block, and keeps them. */
  async *read(): AsyncIterable<Uint8Array> {
    for (const [index, block] of this.#blocks.entries()) if (block) yield this.#usedPart(block, index);
  }

  /** Yields the bytes that are left block by block, and frees each block after its use. */
  async *drain(): AsyncIterable<Uint8Array> {
    for (const [index, block] of this.#blocks.entries()) {
      if (block === undefined) continue;
      this.#blocks[index] = undefined;
      const bytes = this.#usedPart(block, index);
      this.#give(bytes.length);
      yield bytes;
    }
    this.#blocks.length = 0;
  }

  #usedPart(block: Buffer, index: number): Buffer {
    return index === this.#blocks.length - 1 ? block.subarray(0, this.#used) : block;
  }

  /** Frees the blocks that `drain` has not yielded. */
  [Symbol.dispose](): void {
    this.#blocks.length = 0;
    this.#give(this.#held);
  }

  #add(piece: Uint8Array): void {
    if (this.#refusal !== undefined) return;
    const { most: max, budget } = this.options;
    const isTooLarge = this.#held + piece.length > max;
    if (isTooLarge) this.#refusal = new PackError('limit', `pack is larger than ${max} bytes (--max-push-bytes)`);
    try {
      if (!isTooLarge) budget.take(piece.length);
    } catch (error) {
      if (!(error instanceof StoreFull)) throw error;
      this.#refusal = error;
    }
    if (this.#refusal !== undefined) {
      this[Symbol.dispose]();
      return;
    }
    this.#append(piece);
    this.#held += piece.length;
  }

  #append(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      let block = this.#blocks.at(-1);
      if (block === undefined || this.#used === block.length) {
        block = Buffer.allocUnsafeSlow(Math.min(LARGEST_BLOCK, Math.max(piece.length - at, this.#held)));
        this.#blocks.push(block);
        this.#used = 0;
      }
      const count = Math.min(piece.length - at, block.length - this.#used);
      block.set(piece.subarray(at, at + count), this.#used);
      this.#used += count;
      at += count;
    }
  }

  #give(bytes: number): void {
    this.#held -= bytes;
    this.options.budget.give(bytes);
  }
}

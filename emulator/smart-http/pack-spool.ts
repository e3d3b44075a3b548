import { PackError } from '../git/pack/pack-error.js';
import { type MemoryBudget, StoreFull } from '../memory/memory-budget.js';

export interface SpoolOptions {
  /** Bytes of the largest pack taken. */
  readonly most: number;
  /** What the waiting bytes count against. */
  readonly budget: MemoryBudget;
  /** Of a pack that is not kept: `drop` reads it to its end, `leave` reads no more of it. */
  readonly rest?: 'drop' | 'leave';
}

/**
 * Bytes of a block, at most. So large a block has pages of its own, which the system gets back; pieces as they arrive lie
 * among everything else, and what they leave behind when they go is hard to fill.
 */
const LARGEST_BLOCK = 64 * 1024 * 1024;

/**
 * A pack that has arrived. It is received before the repository is locked for writing, so that a slow
 * or silent client holds up no other writer, and one that leaves has touched nothing.
 */
export class PackSpool implements Disposable {
  /** Full, but for the last one, of which `#used` bytes are. Each is as long as all before it, up to `LARGEST_BLOCK`. */
  readonly #blocks: (Buffer | undefined)[] = [];
  #used = 0;
  #held = 0;
  #refusal: PackError | StoreFull | undefined;

  private constructor(private readonly options: SpoolOptions) {}

  /**
   * Reads `source` to its end. Of a pack that is too large, or that there is no memory for, the rest is read and
   * dropped, so that the client can hear why, or left.
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

  /** Why the pack was not kept. */
  get refusal(): PackError | StoreFull | undefined {
    return this.#refusal;
  }

  /** Hands out the blocks, once and for good. */
  async *drain(): AsyncIterable<Uint8Array> {
    for (let index = 0; index < this.#blocks.length; index++) {
      const block = this.#blocks[index]!;
      const isLast = index === this.#blocks.length - 1;
      this.#blocks[index] = undefined;
      const bytes = isLast ? block.subarray(0, this.#used) : block;
      this.#give(bytes.length);
      yield bytes;
    }
    this.#blocks.length = 0;
  }

  /** Lets go of what was not handed out. */
  [Symbol.dispose](): void {
    this.#blocks.length = 0;
    this.#give(this.#held);
  }

  #add(piece: Uint8Array): void {
    if (this.#refusal !== undefined) return;
    const { most, budget } = this.options;
    const isTooLarge = this.#held + piece.length > most;
    if (isTooLarge) this.#refusal = new PackError('limit', `pack exceeds the limit of ${most} bytes`);
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

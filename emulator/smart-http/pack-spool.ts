import type { MemoryBudget } from '../git/memory/memory-budget.js';
import { StoreFull } from '../git/memory/memory-budget.js';
import { PackError } from '../git/pack/pack-error.js';

export interface SpoolOptions {
  /** Bytes of the largest pack taken. */
  readonly most: number;
  /** What the waiting bytes count against. */
  readonly budget: MemoryBudget;
  /** Of a pack that is not kept: `drop` reads it to its end, `leave` reads no more of it. */
  readonly rest?: 'drop' | 'leave';
}

/**
 * A pack that has arrived. It is received before the repository is locked for writing, so that a slow
 * or silent client holds up no other writer, and one that leaves has touched nothing.
 */
export class PackSpool implements Disposable {
  readonly #pieces: (Uint8Array | undefined)[] = [];
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

  /** Hands out the pieces once, letting go of each. */
  async *drain(): AsyncIterable<Uint8Array> {
    for (let index = 0; index < this.#pieces.length; index++) {
      const piece = this.#pieces[index]!;
      this.#pieces[index] = undefined;
      this.#give(piece.length);
      yield piece;
    }
    this.#pieces.length = 0;
  }

  /** Lets go of what was not handed out. */
  [Symbol.dispose](): void {
    this.#pieces.length = 0;
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
    this.#held += piece.length;
    this.#pieces.push(piece);
  }

  #give(bytes: number): void {
    this.#held -= bytes;
    this.options.budget.give(bytes);
  }
}

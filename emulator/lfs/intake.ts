import { createHash } from 'node:crypto';
import type { MemoryBudget } from '../memory/memory-budget.js';
import { heldBytesOf, type LfsObject } from '../repositories/lfs-objects.js';

const FIRST_BLOCK_BYTES = 4 * 1024;
const LARGEST_BLOCK_BYTES = 256 * 1024;

/**
 * LFS object that is being uploaded. Its content is hashed as it arrives, and copied into blocks of memory, because the
 * client chooses the size of the pieces. Unless `keep` was called, disposal gives the memory back to the budget.
 */
export class ObjectIntake implements Disposable {
  readonly #hash = createHash('sha256');
  readonly #blocks: Buffer[] = [];
  /** Number of bytes in the last block that contain content. */
  #filled = 0;
  #size = 0;
  #taken = 0;

  /** `budget` is the memory budget for the content. If undefined, the content is only hashed, not stored. */
  constructor(private readonly budget: MemoryBudget | undefined) {
    this.#take(heldBytesOf({ size: 0 }));
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a piece of the content. Throws `StoreFull` if the memory budget is exceeded. */
  add(piece: Uint8Array): void {
    this.#take(piece.length);
    this.#hash.update(piece);
    if (!this.budget) {
      this.#size += piece.length;
      return;
    }
    for (let rest = piece; rest.length > 0; ) {
      const block = this.#room(rest.length);
      const part = rest.subarray(0, block.length - this.#filled);
      block.set(part, this.#filled);
      this.#filled += part.length;
      this.#size += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /**
   * Returns the LFS id of the received content, which is its SHA-256 in hexadecimal. Nothing can be added afterwards.
   */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /**
   * Returns the complete object. `storedAt` is the time of storage in milliseconds since 1970. The memory stays counted
   * in the budget, and the caller must release it later.
   */
  keep(storedAt: number): LfsObject {
    const last = this.#blocks.at(-1);
    // The used part of the last block is copied to a smaller buffer. A slice would keep the whole block in memory.
    if (last && this.#filled < last.length)
      this.#blocks[this.#blocks.length - 1] = copyOf(last.subarray(0, this.#filled));
    this.#taken = 0;
    return { size: this.#size, blocks: this.#blocks, storedAt };
  }

  [Symbol.dispose](): void {
    this.budget?.give(this.#taken);
    this.#taken = 0;
  }

  #take(bytes: number): void {
    this.budget?.take(bytes);
    this.#taken += bytes;
  }

  /**
   * Returns the last block if it has free space, otherwise a new block. The size of a new block is the size of the
   * content so far or `bytes`, whichever is larger. It is at least `FIRST_BLOCK_BYTES` and at most
   * `LARGEST_BLOCK_BYTES`.
   */
  #room(bytes: number): Buffer {
    const last = this.#blocks.at(-1);
    if (last && this.#filled < last.length) return last;
    const wanted = Math.max(FIRST_BLOCK_BYTES, this.#size, bytes);
    const block = Buffer.allocUnsafeSlow(Math.min(wanted, LARGEST_BLOCK_BYTES));
    this.#blocks.push(block);
    this.#filled = 0;
    return block;
  }
}

function copyOf(part: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(part.length);
  part.copy(copy);
  return copy;
}

import { createHash } from 'node:crypto';
import type { MemoryBudget } from '../memory/memory-budget.js';
import { heldBytesOf, type LfsObject } from '../repositories/lfs-objects.js';

const FIRST_BLOCK_BYTES = 4 * 1024;
const LARGEST_BLOCK_BYTES = 256 * 1024;

/**
 * An object on its way in. Content is hashed as it arrives and copied into blocks of its own, since a client chooses
 * how small the pieces are. What it takes of the budget is given back, unless `keep` was called.
 */
export class ObjectIntake implements Disposable {
  readonly #hash = createHash('sha256');
  readonly #blocks: Buffer[] = [];
  /** Bytes used of the last block. */
  #filled = 0;
  #size = 0;
  #taken = 0;

  /** Without a budget nothing is kept: content is only checked. */
  constructor(private readonly budget: MemoryBudget | undefined) {
    this.#take(heldBytesOf({ size: 0 }));
  }

  get size(): number {
    return this.#size;
  }

  /** Throws `StoreFull` when the budget has no room for `piece`. */
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

  /** The id of what has arrived. Nothing can be added afterwards. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /** The object, which is the caller's from now on, and so is what it takes of the budget. */
  keep(storedAt: number): LfsObject {
    const last = this.#blocks.at(-1);
    // A copy: a part of a block would keep all of it in memory.
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

  /** The last block, with room in it. A new one is as large as what there is already, and has room for `bytes`. */
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

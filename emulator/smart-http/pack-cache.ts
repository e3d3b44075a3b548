import type { CacheRegion, MemoryCache } from '../git/memory/memory-cache.js';
import type { GitRepository } from '../git/repository/repository.js';

interface Finished {
  readonly packets: readonly Buffer[];
  readonly bytes: number;
}

/**
 * A pack above this is kept only when it is asked for again: most large ones never are, and memory that is held for
 * a while costs more than memory that is used over and over.
 */
const KEPT_AT_ONCE = 1024 * 1024;
/** Large packs that were sent once, by name. */
const MOST_SENT = 1000;

/**
 * Finished packs of all repositories, in the packets they were sent in, as long as the cache has room. A pack is
 * decided by what its key names, because objects never change; so nothing here ever goes stale.
 */
export class PackCache {
  readonly #packs = new WeakMap<GitRepository, CacheRegion<string, Finished>>();
  /** Packs being kept while they are sent, and their bytes so far. */
  readonly #growing = new Set<string>();
  growingBytes = 0;
  readonly #most: number;
  /** Packs that were too large to be kept when they were first asked for. */
  readonly #sent = new Set<string>();
  readonly #numbers = new WeakMap<GitRepository, number>();
  #nextNumber = 0;

  /** `most`: bytes of packs under way. */
  constructor(
    private readonly cache: MemoryCache,
    most = cache.capacity,
  ) {
    this.#most = Math.min(most, cache.capacity);
  }

  get(repository: GitRepository, key: string): readonly Buffer[] | undefined {
    return this.#packsOf(repository).get(key)?.packets;
  }

  /**
   * Passes `packets` on and keeps them, unless they are too many or the client leaves before the end. One client at a
   * time makes a pack to be kept, and all that are under way count: slow clients do not add up.
   */
  async *keeping(repository: GitRepository, key: string, packets: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    const name = this.#nameOf(repository, key);
    if (this.#growing.has(name)) {
      yield* packets;
      return;
    }
    this.#growing.add(name);
    const isAgain = this.#sent.has(name);
    let kept: Buffer[] | undefined = [];
    let bytes = 0;
    try {
      for await (const packet of packets) {
        const isLarge = !isAgain && bytes + packet.length > KEPT_AT_ONCE;
        if (kept && (isLarge || this.growingBytes + packet.length > this.#most)) {
          if (isLarge) this.#noteSent(name);
          kept = undefined;
          this.growingBytes -= bytes;
          bytes = 0;
        }
        if (kept) {
          kept.push(packet);
          bytes += packet.length;
          this.growingBytes += packet.length;
        }
        yield packet;
      }
      if (kept) {
        this.growingBytes -= bytes;
        this.#packsOf(repository).set(key, { packets: kept, bytes });
        bytes = 0;
      }
    } finally {
      this.#growing.delete(name);
      this.growingBytes -= bytes;
    }
  }

  /** Lets go of the packs of a repository that is no more. Those under way end, and are not kept. */
  forget(repository: GitRepository): void {
    this.#packsOf(repository).close();
  }

  #noteSent(name: string): void {
    if (this.#sent.size === MOST_SENT) this.#sent.delete(this.#sent.values().next().value!);
    this.#sent.add(name);
  }

  #packsOf(repository: GitRepository): CacheRegion<string, Finished> {
    let packs = this.#packs.get(repository);
    if (packs === undefined) {
      packs = this.cache.region(({ bytes }) => bytes, this.#most);
      this.#packs.set(repository, packs);
    }
    return packs;
  }

  #nameOf(repository: GitRepository, key: string): string {
    let number = this.#numbers.get(repository);
    if (number === undefined) {
      number = this.#nextNumber++;
      this.#numbers.set(repository, number);
    }
    return `${number} ${key}`;
  }
}

import type { GitRepository } from '../git/repository.js';

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
 * Finished packs of all repositories, in the packets they were sent in, up to a number of bytes. A pack is
 * decided by what its key names, because objects never change; so nothing here ever goes stale.
 */
export class PackCache {
  /** In order of last use. */
  readonly #packs = new Map<string, Finished>();
  #bytes = 0;
  /** Packs being kept while they are sent, and their bytes so far. */
  readonly #growing = new Set<string>();
  #growingBytes = 0;
  /** Packs that were too large to be kept when they were first asked for. */
  readonly #sent = new Set<string>();
  readonly #forgotten = new WeakSet<GitRepository>();
  readonly #numbers = new WeakMap<GitRepository, number>();
  #nextNumber = 0;

  constructor(private readonly most: number) {}

  get(repository: GitRepository, key: string): readonly Buffer[] | undefined {
    const name = this.#nameOf(repository, key);
    const pack = this.#packs.get(name);
    if (!pack) return undefined;
    this.#packs.delete(name);
    this.#packs.set(name, pack);
    return pack.packets;
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
        if (kept && (isLarge || this.#growingBytes + packet.length > this.most)) {
          if (isLarge) this.#noteSent(name);
          kept = undefined;
          this.#growingBytes -= bytes;
          bytes = 0;
        }
        if (kept) {
          kept.push(packet);
          bytes += packet.length;
          this.#growingBytes += packet.length;
        }
        yield packet;
      }
      if (kept && !this.#forgotten.has(repository)) this.#put(name, { packets: kept, bytes });
    } finally {
      this.#growing.delete(name);
      this.#growingBytes -= bytes;
    }
  }

  /** Lets go of the packs of a repository that is no more. Those under way end, and are not kept. */
  forget(repository: GitRepository): void {
    this.#forgotten.add(repository);
    const start = this.#nameOf(repository, '');
    for (const [name, { bytes }] of this.#packs) {
      if (!name.startsWith(start)) continue;
      this.#packs.delete(name);
      this.#bytes -= bytes;
    }
  }

  #noteSent(name: string): void {
    if (this.#sent.size === MOST_SENT) this.#sent.delete(this.#sent.values().next().value!);
    this.#sent.add(name);
  }

  #put(name: string, pack: Finished): void {
    if (this.#packs.has(name)) return;
    this.#packs.set(name, pack);
    this.#bytes += pack.bytes;
    for (const [oldest, { bytes }] of this.#packs) {
      if (this.#bytes <= this.most) return;
      this.#packs.delete(oldest);
      this.#bytes -= bytes;
    }
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

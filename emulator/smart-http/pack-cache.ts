import type { GitRepository } from '../git/repository.js';

interface Shelf {
  /** In order of last use. */
  readonly packs: Map<string, readonly Buffer[]>;
  bytes: number;
}

/**
 * Finished packs, in the packets they were sent in, up to a number of bytes per repository. A pack is
 * decided by what its key names, because objects never change; so nothing here ever goes stale.
 */
export class PackCache {
  readonly #shelves = new WeakMap<GitRepository, Shelf>();

  constructor(private readonly most: number) {}

  get(repository: GitRepository, key: string): readonly Buffer[] | undefined {
    const packs = this.#shelves.get(repository)?.packs;
    const pack = packs?.get(key);
    if (pack) {
      packs!.delete(key);
      packs!.set(key, pack);
    }
    return pack;
  }

  /** Passes `packets` on and keeps them, unless there are too many or the client leaves before the end. */
  async *keeping(repository: GitRepository, key: string, packets: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    const kept: Buffer[] = [];
    let bytes = 0;
    for await (const packet of packets) {
      bytes += packet.length;
      if (bytes <= this.most) kept.push(packet);
      else kept.length = 0;
      yield packet;
    }
    if (bytes <= this.most) this.#put(repository, key, kept, bytes);
  }

  #put(repository: GitRepository, key: string, pack: readonly Buffer[], bytes: number): void {
    const shelf: Shelf = this.#shelves.get(repository) ?? { packs: new Map(), bytes: 0 };
    this.#shelves.set(repository, shelf);
    const { packs } = shelf;
    if (packs.has(key)) return;
    packs.set(key, pack);
    shelf.bytes += bytes;
    while (shelf.bytes > this.most) {
      const [oldest, dropped] = packs.entries().next().value!;
      packs.delete(oldest);
      shelf.bytes -= sizeOf(dropped);
    }
  }
}

function sizeOf(pack: readonly Buffer[]): number {
  return pack.reduce((sum, packet) => sum + packet.length, 0);
}

/** Counted on top of each buffer: the map's entry and the Buffer object. */
const ENTRY_BYTES = 200;

/** Buffers by key, least recently used out first, at most `capacity` bytes of them. */
export class BufferCache<Key> {
  readonly #buffers = new Map<Key, Buffer>();
  #bytes = 0;
  #spaces = 0;

  constructor(private readonly capacity: number) {}

  /**
   * A number that nobody else gets, to be part of keys. Who takes a new one has forgotten all its
   * buffers: nobody asks for them again, and so they go first.
   */
  newSpace(): number {
    return this.#spaces++;
  }

  get(key: Key): Buffer | undefined {
    const buffer = this.#buffers.get(key);
    if (buffer === undefined) return undefined;
    // A map keeps insertion order: to move to its end is to be the most recent.
    this.#buffers.delete(key);
    this.#buffers.set(key, buffer);
    return buffer;
  }

  set(key: Key, buffer: Buffer): void {
    const cost = buffer.length + ENTRY_BYTES;
    if (cost * 4 > this.capacity || this.#buffers.has(key)) return;
    this.#buffers.set(key, buffer);
    this.#bytes += cost;
    if (this.#bytes > this.capacity) this.#shrink();
  }

  #shrink(): void {
    for (const [oldest, buffer] of this.#buffers) {
      this.#buffers.delete(oldest);
      this.#bytes -= buffer.length + ENTRY_BYTES;
      if (this.#bytes <= this.capacity) return;
    }
  }
}

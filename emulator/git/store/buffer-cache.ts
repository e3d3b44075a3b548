/** Counted on top of each buffer: the map's entry and the Buffer object. */
const ENTRY_BYTES = 200;

/** Buffers by number, least recently used out first, at most `capacity` bytes of them. */
export class BufferCache {
  readonly #buffers = new Map<number, Buffer>();
  #bytes = 0;

  constructor(private readonly capacity: number) {}

  get(key: number): Buffer | undefined {
    const buffer = this.#buffers.get(key);
    if (buffer === undefined) return undefined;
    // A map keeps insertion order: to move to its end is to be the most recent.
    this.#buffers.delete(key);
    this.#buffers.set(key, buffer);
    return buffer;
  }

  set(key: number, buffer: Buffer): void {
    const cost = buffer.length + ENTRY_BYTES;
    if (cost * 4 > this.capacity || this.#buffers.has(key)) return;
    this.#buffers.set(key, buffer);
    this.#bytes += cost;
    if (this.#bytes > this.capacity) this.#shrink();
  }

  /** Forgets every key from `first` on. */
  forgetFrom(first: number): void {
    for (const [key, buffer] of this.#buffers) {
      if (key >= first) this.#forget(key, buffer);
    }
  }

  #shrink(): void {
    for (const [oldest, buffer] of this.#buffers) {
      this.#forget(oldest, buffer);
      if (this.#bytes <= this.capacity) return;
    }
  }

  #forget(key: number, buffer: Buffer): void {
    this.#buffers.delete(key);
    this.#bytes -= buffer.length + ENTRY_BYTES;
  }
}

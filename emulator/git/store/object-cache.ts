/** Counted on top of each body: the map's entry and the Buffer object. */
const ENTRY_BYTES = 200;

/** Inflated bodies by object number, least recently used out first, at most `capacity` bytes of them. */
export class ObjectCache {
  readonly #bodies = new Map<number, Buffer>();
  #bytes = 0;

  constructor(private readonly capacity: number) {}

  get(number: number): Buffer | undefined {
    const body = this.#bodies.get(number);
    if (body === undefined) return undefined;
    // A map keeps insertion order: to move to its end is to be the most recent.
    this.#bodies.delete(number);
    this.#bodies.set(number, body);
    return body;
  }

  set(number: number, body: Buffer): void {
    const cost = body.length + ENTRY_BYTES;
    if (cost * 4 > this.capacity || this.#bodies.has(number)) return;
    this.#bodies.set(number, body);
    this.#bytes += cost;
    for (const [oldest, dropped] of this.#bodies) {
      if (this.#bytes <= this.capacity) return;
      this.#bodies.delete(oldest);
      this.#bytes -= dropped.length + ENTRY_BYTES;
    }
  }

  /** Forgets every number from `first` on. */
  forgetFrom(first: number): void {
    for (const [number, body] of this.#bodies) {
      if (number < first) continue;
      this.#bodies.delete(number);
      this.#bytes -= body.length + ENTRY_BYTES;
    }
  }
}

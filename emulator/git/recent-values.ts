/** Values by key, least recently used out first: what they cost together is at most `capacity`. */
export class RecentValues<Key, Value> {
  readonly #values = new Map<Key, Value>();
  #cost = 0;

  /** `costOf` has to say the same of a value whenever it is asked. */
  constructor(
    private readonly capacity: number,
    private readonly costOf: (value: Value) => number,
  ) {}

  get(key: Key): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    // A map keeps insertion order: to move to its end is to be the most recent.
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  /** Keeps a value, unless the key has one or this one would push out too many others. */
  set(key: Key, value: Value): void {
    const cost = this.costOf(value);
    if (cost * 4 > this.capacity || this.#values.has(key)) return;
    this.#values.set(key, value);
    this.#cost += cost;
    if (this.#cost > this.capacity) this.#shrink();
  }

  #shrink(): void {
    for (const [oldest, value] of this.#values) {
      this.#values.delete(oldest);
      this.#cost -= this.costOf(value);
      if (this.#cost <= this.capacity) return;
    }
  }
}

/** Cache entry: a node of the doubly linked LRU list. */
interface Entry {
  region: CacheRegion<unknown, unknown>;
  key: unknown;
  readonly value: unknown;
  readonly cost: number;
  use: object | undefined;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/** Minimum cost of an entry in bytes: map slot, entry and value object. */
export const ENTRY_BYTES = 200;
/** Maximum share of the capacity that one value may cost, because a larger one would evict too many others. */
const LARGEST_SHARE = 1 / 4;

/**
 * LRU cache for all data that can be computed again, with one capacity in bytes. Evicts the least recently used entry
 * of any region. Each kind of value has its own region, with its own keys.
 */
export class MemoryCache {
  /** Bytes used by all entries. */
  heldBytes = 0;
  #oldest: Entry | undefined;
  #newest: Entry | undefined;

  constructor(readonly capacity: number) {}

  /** Creates a region. `costOf` is called once for each value. `largest`: maximum cost of one value in bytes. */
  region<Key, Value>(
    costOf: (value: Value) => number,
    largest = this.capacity * LARGEST_SHARE,
  ): CacheRegion<Key, Value> {
    return new CacheRegion<Key, Value>(this, costOf, largest);
  }

  /** Creates a group of regions that are closed together. */
  group(): CacheGroup {
    return new CacheGroup(this);
  }

  /**
   * Called only by regions. Inserts an entry as the most recently used. Returns false if there is not enough capacity.
   */
  keep(entry: Entry): boolean {
    if (!this.#makeRoom(entry.cost, entry.use)) return false;
    this.heldBytes += entry.cost;
    this.#link(entry);
    return true;
  }

  touch(entry: Entry): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#link(entry);
  }

  drop(entry: Entry): void {
    this.heldBytes -= entry.cost;
    this.#unlink(entry);
  }

  /**
   * Evicts the least recently used entries until `bytes` more fit. Returns false if the next to evict belongs to the
   * same `use`, because a sequential scan larger than the cache would evict its own entries before using them again.
   */
  #makeRoom(bytes: number, use: object | undefined): boolean {
    while (this.heldBytes + bytes > this.capacity) {
      const entry = this.#oldest;
      if (entry === undefined || (use !== undefined && entry.use === use)) return false;
      entry.region.forget(entry);
    }
    return true;
  }

  #link(entry: Entry): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry): void {
    if (entry.older === undefined) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.#newest = entry.older;
    else entry.newer.older = entry.older;
  }
}

/** Values by key, until the cache evicts them. */
export class CacheRegion<Key, Value> {
  readonly #entries = new Map<Key, Entry>();
  #isClosed = false;

  constructor(
    private readonly cache: MemoryCache,
    private readonly costOf: (value: Value) => number,
    private readonly largest: number,
  ) {}

  /** Returns a value, or undefined. `use` identifies the operation that uses the value. */
  get(key: Key, use?: object): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Moves the entry only once for each use, so that a use keeps the order of its first accesses.
    if (use === undefined || entry.use !== use) this.cache.touch(entry);
    entry.use = use;
    return entry.value as Value;
  }

  /**
   * Caches a value. Does nothing if the key exists, the value is too large, or only entries of the same `use` could be
   * evicted.
   */
  set(key: Key, value: Value, use?: object): void {
    if (this.#isClosed || this.#entries.has(key)) return;
    const cost = this.costOf(value);
    if (cost > this.largest) return;
    const region = this as unknown as CacheRegion<unknown, unknown>;
    const entry: Entry = { region, key, value, cost, use, older: undefined, newer: undefined };
    if (this.cache.keep(entry)) this.#entries.set(key, entry);
  }

  /**
   * Moves all values to another region of the same cache, with the key returned by `keyOf`. Their LRU order does not
   * change.
   */
  moveTo(other: CacheRegion<Key, Value>, keyOf: (key: Key) => Key): void {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) {
      const key = keyOf(entry.key as Key);
      if (other.#isClosed || other.#entries.has(key)) {
        this.cache.drop(entry);
        continue;
      }
      entry.region = other as unknown as CacheRegion<unknown, unknown>;
      entry.key = key;
      other.#entries.set(key, entry);
    }
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.cache.drop(entry);
    this.#entries.clear();
  }

  /** Clears the region. Later values are not cached. */
  close(): void {
    this.clear();
    this.#isClosed = true;
  }

  /** Called only by the cache. */
  forget(entry: Entry): void {
    this.#entries.delete(entry.key as Key);
    this.cache.drop(entry);
  }
}

/** Group of regions with a reference count. They are closed when the last holder closes the group. */
export class CacheGroup {
  readonly #regions: { close(): void }[] = [];
  readonly #shared = new Map<object, unknown>();
  #holders = 1;
  #isClosed = false;

  constructor(private readonly cache: MemoryCache) {}

  /** Capacity of the whole cache in bytes. */
  get capacity(): number {
    return this.cache.capacity;
  }

  /** `share`: maximum share of the whole capacity that one value may cost. */
  region<Key, Value>(costOf: (value: Value) => number, share = LARGEST_SHARE): CacheRegion<Key, Value> {
    const region = this.cache.region<Key, Value>(costOf, this.cache.capacity * share);
    if (this.#isClosed) region.close();
    else this.#regions.push(region);
    return region;
  }

  /** Returns a value that several users of the group share. `make` creates it on the first call. */
  shared<T>(key: object, make: () => T): T {
    let found = this.#shared.get(key) as T | undefined;
    if (found === undefined) {
      found = make();
      this.#shared.set(key, found);
    }
    return found;
  }

  hold(): this {
    this.#holders++;
    return this;
  }

  /** Removes a holder. The last one clears and closes all regions. */
  close(): void {
    if (--this.#holders > 0) return;
    this.#isClosed = true;
    for (const region of this.#regions.splice(0)) region.close();
  }
}

/** Returns the cost of a cached buffer in bytes. */
export function costOfBuffer(buffer: Buffer): number {
  return buffer.length + ENTRY_BYTES;
}

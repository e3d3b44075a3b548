import { ShardedMap } from './sharded-map.js';

/** Entry of the cache. It is a node of the doubly linked list of all entries in LRU order. */
interface Entry {
  region: CacheRegion<unknown, unknown>;
  key: unknown;
  readonly value: unknown;
  readonly cost: number;
  use: object | undefined;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/**
 * Minimum memory of a cache entry in bytes: map slot, entry and value object. The content of the value is not included.
 */
export const ENTRY_BYTES = 200;
/**
 * Maximum fraction of the cache's capacity that one value may take. A larger value would evict too many other values.
 */
const LARGEST_SHARE = 1 / 4;

/**
 * LRU cache with a capacity in bytes, for data that can be computed again. Each kind of value has its own region with
 * its own keys. If the cache is full, it evicts the least recently used entry of all regions.
 */
export class MemoryCache {
  /** Total size in bytes of all entries. */
  heldBytes = 0;
  #oldest: Entry | undefined;
  #newest: Entry | undefined;

  constructor(readonly capacity: number) {}

  /**
   * Creates a region. `costOf` returns the size of a value in bytes; it is called once for each value. `largest` is the
   * maximum size of one value in bytes.
   */
  region<Key, Value>(
    costOf: (value: Value) => number,
    largest = this.capacity * LARGEST_SHARE,
  ): CacheRegion<Key, Value> {
    return new CacheRegion<Key, Value>(this, costOf, largest);
  }

  /** Creates a group of regions that are closed together, such as the regions of one repository. */
  group(): CacheGroup {
    return new CacheGroup(this);
  }

  /**
   * Inserts an entry as the most recently used one. Evicts other entries if necessary. Returns false without inserting
   * the entry if there is not enough capacity. Called only by regions.
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
   * Evicts the least recently used entries until `bytes` more bytes fit. Returns false if this is not possible.
   *
   * An entry is not evicted if the operation `use` was the last to access it. Otherwise a scan that is larger than the
   * cache would evict its own entries before it uses them again.
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

/** Region of the cache: values of one kind, by key. A value stays in the region until the cache evicts it. */
export class CacheRegion<Key, Value> {
  readonly #entries = new ShardedMap<Key, Entry>((key) => (typeof key === 'number' ? key : 0));
  #isClosed = false;

  constructor(
    private readonly cache: MemoryCache,
    private readonly costOf: (value: Value) => number,
    private readonly largest: number,
  ) {}

  /**
   * Returns the value of a key; undefined if it is not cached. `use` is an object that stands for the operation that
   * uses the value.
   */
  get(key: Key, use?: object): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Each operation (`use`) moves an entry in the LRU order only once. The order of first accesses is therefore kept.
    if (use === undefined || entry.use !== use) this.cache.touch(entry);
    entry.use = use;
    return entry.value as Value;
  }

  /**
   * Caches a value. Does nothing if the key is already cached or if the value is too large. Also does nothing if space
   * is missing and the operation `use` was the last to access the next entry to evict.
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
   * Moves all values to another region of this cache. `keyOf` returns the new key of a value. The positions in the LRU
   * order do not change.
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

  /** Removes all values from the region. Later calls of `set` have no effect. */
  close(): void {
    this.clear();
    this.#isClosed = true;
  }

  /** Removes an evicted entry from the region. Called only by the cache. */
  forget(entry: Entry): void {
    this.#entries.delete(entry.key as Key);
    this.cache.drop(entry);
  }
}

/** Group of cache regions with a reference count. When the last holder closes the group, its regions are closed. */
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

  /**
   * Creates a region of the group. `costOf` returns the size of a value in bytes. `share` is the maximum size of one
   * value, as a fraction of the whole cache's capacity.
   */
  region<Key, Value>(costOf: (value: Value) => number, share = LARGEST_SHARE): CacheRegion<Key, Value> {
    const region = this.cache.region<Key, Value>(costOf, this.cache.capacity * share);
    if (this.#isClosed) region.close();
    else this.#regions.push(region);
    return region;
  }

  /** Returns the value that users of the group share under `key`. The first call creates the value with `make`. */
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

  /** Removes one holder of the group. When the last holder is removed, all regions are cleared and closed. */
  close(): void {
    if (--this.#holders > 0) return;
    this.#isClosed = true;
    for (const region of this.#regions.splice(0)) region.close();
  }
}

/** Returns the memory in bytes that a cached buffer takes, including its cache entry. */
export function costOfBuffer(buffer: Buffer): number {
  return buffer.length + ENTRY_BYTES;
}

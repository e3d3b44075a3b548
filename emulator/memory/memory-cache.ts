/** What is kept under one key, between those that were used before and after it. */
interface Entry {
  region: CacheRegion<unknown, unknown>;
  key: unknown;
  readonly value: unknown;
  readonly cost: number;
  use: object | undefined;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/** An entry takes at least this: the map's slot, the entry itself, the value's own object. */
export const ENTRY_BYTES = 200;
/** What costs more than this share of everything would push out too much. */
const LARGEST_SHARE = 1 / 4;

/**
 * Everything that is kept only to be fast, in one budget of bytes: the entry that was used least recently goes
 * first, whichever region it is in. Each kind of value has a region of its own, with keys of its own.
 */
export class MemoryCache {
  /** Bytes kept or reserved. */
  heldBytes = 0;
  #oldest: Entry | undefined;
  #newest: Entry | undefined;

  constructor(readonly capacity: number) {}

  /** `costOf` is asked once of each value; `largest` is the most that one may cost. */
  region<Key, Value>(
    costOf: (value: Value) => number,
    largest = this.capacity * LARGEST_SHARE,
  ): CacheRegion<Key, Value> {
    return new CacheRegion<Key, Value>(this, costOf, largest);
  }

  /** Regions that are closed together. */
  group(): CacheGroup {
    return new CacheGroup(this);
  }

  /** For regions only: keeps the entry as the newest, unless there is no room; says whether it did. */
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

  /** Lets the oldest go until `bytes` more fit; not those of the same use, which would find nothing next time. */
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

/** Values by key, as long as the cache has room for them. */
export class CacheRegion<Key, Value> {
  readonly #entries = new Map<Key, Entry>();
  #isClosed = false;

  constructor(
    private readonly cache: MemoryCache,
    private readonly costOf: (value: Value) => number,
    private readonly largest: number,
  ) {}

  /** With `use`, the value is one of those that something under way uses. */
  get(key: Key, use?: object): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Once for each use: what it came by first goes first.
    if (use === undefined || entry.use !== use) this.cache.touch(entry);
    entry.use = use;
    return entry.value as Value;
  }

  /** Keeps a value, unless the key has one, it is too large, or only values of the same use could make room. */
  set(key: Key, value: Value, use?: object): void {
    if (this.#isClosed || this.#entries.has(key)) return;
    const cost = this.costOf(value);
    if (cost > this.largest) return;
    const region = this as unknown as CacheRegion<unknown, unknown>;
    const entry: Entry = { region, key, value, cost, use, older: undefined, newer: undefined };
    if (this.cache.keep(entry)) this.#entries.set(key, entry);
  }

  /** Gives every value to a region of the same cache and costs, under the key that `keyOf` says; they grow no younger. */
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

  /** As `clear`, and for good. */
  close(): void {
    this.clear();
    this.#isClosed = true;
  }

  /** For the cache only. */
  forget(entry: Entry): void {
    this.#entries.delete(entry.key as Key);
    this.cache.drop(entry);
  }
}

/** Regions that are closed together: when the last holder has closed the group. */
export class CacheGroup {
  readonly #regions: { close(): void }[] = [];
  readonly #shared = new Map<object, unknown>();
  #holders = 1;
  #isClosed = false;

  constructor(private readonly cache: MemoryCache) {}

  /** Bytes that everything in the cache may take together. */
  get capacity(): number {
    return this.cache.capacity;
  }

  /** `share`: of the whole capacity, the most that one value may take. */
  region<Key, Value>(costOf: (value: Value) => number, share = LARGEST_SHARE): CacheRegion<Key, Value> {
    const region = this.cache.region<Key, Value>(costOf, this.cache.capacity * share);
    if (this.#isClosed) region.close();
    else this.#regions.push(region);
    return region;
  }

  /** What `make` made when it was first asked for: regions that several use. */
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

  /** Lets everything go, at once and for good, unless others hold it. */
  close(): void {
    if (--this.#holders > 0) return;
    this.#isClosed = true;
    for (const region of this.#regions.splice(0)) region.close();
  }
}

/** What a buffer that is kept costs. */
export function costOfBuffer(buffer: Buffer): number {
  return buffer.length + ENTRY_BYTES;
}

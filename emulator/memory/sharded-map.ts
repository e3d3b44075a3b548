/** Number of maps over which the values are distributed (shards). Must be a power of two. */
const SHARDS = 64;

/**
 * Variant of `Map` for up to some million keys. It consists of several maps, because a single map with
 * 250,000 keys takes 50 ms to grow, and other requests would wait. Keys that are not numbers share one map.
 */
export class ShardedMap<Key, Value> {
  readonly #shards: (Map<Key, Value> | undefined)[] = [];

  get(key: Key): Value | undefined {
    return this.#shards[shardOf(key)]?.get(key);
  }

  has(key: Key): boolean {
    return this.#shards[shardOf(key)]?.has(key) ?? false;
  }

  set(key: Key, value: Value): void {
    const shard = shardOf(key);
    this.#shards[shard] ??= new Map();
    this.#shards[shard].set(key, value);
  }

  delete(key: Key): void {
    this.#shards[shardOf(key)]?.delete(key);
  }

  clear(): void {
    this.#shards.length = 0;
  }

  /** Yields the values, in the order of the shards. Values of one shard are in the order in which they were added. */
  *values(): Generator<Value> {
    for (const shard of this.#shards) if (shard !== undefined) yield* shard.values();
  }
}

function shardOf(key: unknown): number {
  return typeof key === 'number' ? key & (SHARDS - 1) : 0;
}

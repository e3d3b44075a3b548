/** Number of maps over which the keys are distributed. Must be a power of two. */
const SHARDS = 64;

/**
 * Variant of `Map` for many keys. Its keys are distributed over several maps (shards). A single map with 250,000 keys
 * takes 50 ms to grow, and other requests would have to wait.
 */
export class ShardedMap<Key, Value> {
  readonly #shards: (Map<Key, Value> | undefined)[] = Array(SHARDS);

  /** `hashOf` returns an integer. Keys with equal low bits of this integer are in the same map. */
  constructor(private readonly hashOf: (key: Key) => number) {}

  get(key: Key): Value | undefined {
    return this.#shardOf(key)?.get(key);
  }

  has(key: Key): boolean {
    return this.#shardOf(key)?.has(key) ?? false;
  }

  set(key: Key, value: Value): void {
    const index = this.hashOf(key) & (SHARDS - 1);
    this.#shards[index] ??= new Map();
    this.#shards[index].set(key, value);
  }

  delete(key: Key): void {
    this.#shardOf(key)?.delete(key);
  }

  clear(): void {
    this.#shards.fill(undefined);
  }

  /** Yields the values map by map, so not in the order in which they were added. */
  *values(): Generator<Value> {
    for (const shard of this.#shards) if (shard !== undefined) yield* shard.values();
  }

  #shardOf(key: Key): Map<Key, Value> | undefined {
    return this.#shards[this.hashOf(key) & (SHARDS - 1)];
  }
}

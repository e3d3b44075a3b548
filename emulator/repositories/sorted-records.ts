import sortedBTree, { type ISortedMapF } from 'sorted-btree';

/** Immutable sorted map. A change returns a new map that shares the unchanged part. */
export type SortedMap<Key, Value> = ISortedMapF<Key, Value>;

// The package is CommonJS; its class is the `default` member of its exports.
const BTree = sortedBTree.default;

export function emptyMap<Key, Value>(): SortedMap<Key, Value> {
  return new BTree<Key, Value>();
}

/** Immutable collection of records, sorted by a key, and also accessible by id. */
export class SortedRecords<Key, Value extends { readonly id: string }> {
  constructor(
    private readonly keyOf: (value: Value) => Key,
    private readonly byKey = new BTree<Key, Value>(),
    private readonly keys = new BTree<string, Key>(),
  ) {}

  get size(): number {
    return this.byKey.size;
  }

  at(key: Key): Value | undefined {
    return this.byKey.get(key);
  }

  get(id: string): Value | undefined {
    const key = this.keys.get(id);
    return key === undefined ? undefined : this.byKey.get(key);
  }

  /** Yields the records after the key `after`, in order. */
  *list(after?: Key): IterableIterator<Value> {
    for (const [key, value] of this.byKey.entries(after)) if (key !== after) yield value;
  }

  /** Yields the records before the key `before`, in reverse order. */
  *reversed(before?: Key): IterableIterator<Value> {
    for (const [, value] of this.byKey.entriesReversed(before, undefined, true)) yield value;
  }

  with(value: Value): SortedRecords<Key, Value> {
    const key = this.keyOf(value);
    return new SortedRecords(this.keyOf, this.byKey.with(key, value, true), this.keys.with(value.id, key, true));
  }

  without(value: Value): SortedRecords<Key, Value> {
    return new SortedRecords(this.keyOf, this.byKey.without(this.keyOf(value)), this.keys.without(value.id));
  }
}

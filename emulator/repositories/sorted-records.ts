import sortedBTree, { type ISortedMapF } from 'sorted-btree';

/** Immutable sorted map. A change returns a new map, which shares all unchanged nodes with the old map. */
export type SortedMap<Key, Value> = ISortedMapF<Key, Value>;

// The package is CommonJS, so its import is the exports object, and the class is the member `default`.
const BTree = sortedBTree.default;

export function emptyMap<Key, Value>(): SortedMap<Key, Value> {
  return new BTree<Key, Value>();
}

/** Immutable collection of records, sorted by a key of the record. Records can also be found by id. */
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

  /**
   * Yields the records with keys greater than `after`, in ascending order. If `after` is absent, yields all records.
   */
  *list(after?: Key): IterableIterator<Value> {
    for (const [key, value] of this.byKey.entries(after)) if (key !== after) yield value;
  }

  /**
   * Yields the records with keys less than `before`, in descending order. If `before` is absent, yields all records.
   */
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

import sortedBTree, { type ISortedMapF } from 'sorted-btree';

/** Immutable sorted map. A change returns a new map that shares all unchanged nodes with the previous one. */
export type SortedMap<Key, Value> = ISortedMapF<Key, Value>;

// The class is taken from the member `default`, because the package is CommonJS and its exports object is the import.
const BTree = sortedBTree.default;

export function emptyMap<Key, Value>(): SortedMap<Key, Value> {
  return new BTree<Key, Value>();
}

/**
 * Immutable collection of records. It is sorted by a key of the record, and each record is also accessible by its id.
 */
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

  /** Yields the records whose keys are greater than `after`, in ascending order; all records if `after` is absent. */
  *list(after?: Key): IterableIterator<Value> {
    for (const [key, value] of this.byKey.entries(after)) if (key !== after) yield value;
  }

  /** Yields the records whose keys are less than `before`, in descending order; all records if `before` is absent. */
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

import sortedBTree, { type ISortedMapF } from 'sorted-btree';

/** An immutable sorted map: a change makes a new one that shares the rest. */
export type SortedMap<Key, Value> = ISortedMapF<Key, Value>;

// The package is CommonJS: under Node's ES modules its class is the `default` member of its exports.
const BTree = sortedBTree.default;

export function emptyMap<Key, Value>(): SortedMap<Key, Value> {
  return new BTree<Key, Value>();
}

/** Records sorted by a key of theirs, and found by id as well: an immutable value, as `SortedMap`. */
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

  /** In the order of the keys, after `after`. */
  *list(after?: Key): IterableIterator<Value> {
    for (const [key, value] of this.byKey.entries(after)) if (key !== after) yield value;
  }

  /** The last key first, before `before`. */
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

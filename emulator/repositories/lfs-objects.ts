import sortedBTree from 'sorted-btree';

/** The content of one file, apart from Git's objects. A record that holds the value holds the bytes. */
export interface LfsObject {
  readonly size: number;
  /** The content in order, in pieces. */
  readonly blocks: readonly Buffer[];
  /** Milliseconds on the world's clock. */
  readonly storedAt: number;
}

/** What an object costs beside its content: its place in the map, and the value. Many small ones would count as nothing. */
const OVERHEAD = 256;

/** Bytes that `object` counts for. */
export function heldBytesOf({ size }: Pick<LfsObject, 'size'>): number {
  return size + OVERHEAD;
}

/** A Git LFS id: "the SHA-256 of the content", in lower-case hexadecimal digits (git-lfs, docs/spec.md). */
export function isLfsOid(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

const BTree = sortedBTree.default;
type SortedMap<K, V> = sortedBTree.default<K, V>;

/**
 * The LFS objects of one repository, by id: an immutable value; adding makes a new one that shares the rest. A fork
 * starts with the value of its source, so what both hold is in memory once.
 */
export class LfsObjects {
  static readonly none = new LfsObjects(new BTree());

  private constructor(private readonly byOid: SortedMap<string, LfsObject>) {}

  get size(): number {
    return this.byOid.size;
  }

  get(oid: string): LfsObject | undefined {
    return this.byOid.get(oid);
  }

  /** By id. */
  entries(): IterableIterator<[string, LfsObject]> {
    return this.byOid.entries();
  }

  objects(): IterableIterator<LfsObject> {
    return this.byOid.values();
  }

  with(oid: string, object: LfsObject): LfsObjects {
    return new LfsObjects(this.byOid.with(oid, object, true));
  }

  /** The objects that none of `others` has: what is free once this value is let go of. */
  heldAlone(others: Iterable<LfsObjects>): Iterable<LfsObject> {
    let alone: Map<string, LfsObject> | undefined;
    for (const { byOid } of others) {
      if (byOid === this.byOid) return [];
      alone ??= new Map(this.byOid.entries());
      // Repositories that have nothing to do with each other are compared by the shorter list.
      const oids = byOid.size < alone.size ? byOid.keys() : alone.keys();
      for (const oid of oids) if (alone.get(oid) === byOid.get(oid)) alone.delete(oid);
      if (alone.size === 0) return [];
    }
    return alone?.values() ?? this.byOid.values();
  }
}

import type { MemoryBudget } from '../memory/memory-budget.js';
import { emptyMap, type SortedMap } from './sorted-records.js';

/** Content of one LFS object. It stays in memory while a repository record references it. */
export interface LfsObject {
  readonly size: number;
  /** Content in pieces, in order. */
  readonly blocks: readonly Buffer[];
  /** Milliseconds on the world's clock. */
  readonly storedAt: number;
}

/** Bytes that an object takes besides its content. Without it, many small objects would count as almost nothing. */
const OVERHEAD = 256;

/** Returns the bytes that the budget counts for an object. */
export function heldBytesOf({ size }: Pick<LfsObject, 'size'>): number {
  return size + OVERHEAD;
}

/**
 * Returns true if the text is a Git LFS id: the SHA-256 of the content in lower-case hexadecimal digits (git-lfs,
 * docs/spec.md).
 */
export function isLfsOid(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/**
 * LFS objects of one repository by id. A fork starts with the map of its source, so shared objects are in memory once.
 */
export type LfsObjects = SortedMap<string, LfsObject>;

export const NO_LFS_OBJECTS: LfsObjects = emptyMap();

/** Returns the LFS objects of `own` that none of the other maps contains. They can be freed when `own` is removed. */
export function heldAlone(own: LfsObjects, others: Iterable<LfsObjects>): Iterable<LfsObject> {
  let alone: Map<string, LfsObject> | undefined;
  for (const other of others) {
    if (other === own) return [];
    alone ??= new Map(own.entries());
    // Iterates over the smaller map, because most repositories have no objects in common.
    const oids = other.size < alone.size ? other.keys() : alone.keys();
    for (const oid of oids) if (alone.get(oid) === other.get(oid)) alone.delete(oid);
    if (alone.size === 0) return [];
  }
  return alone?.values() ?? own.values();
}

/**
 * LFS objects that several snapshots and worlds share. Reference-counted: they are given back to the budget when the
 * last holder releases them.
 */
export class SharedLfsObjects {
  holders = 1;

  constructor(
    readonly objects: ReadonlySet<LfsObject>,
    readonly below: SharedLfsObjects | undefined,
  ) {}
}

/**
 * Counts the memory of one world's LFS objects. An object is taken from the budget when it arrives, and given back when
 * neither the world nor one of its snapshots contains it. Objects since the last snapshot belong to the world alone;
 * older ones are shared with snapshots. The cost of a snapshot or a restore therefore depends only on the objects that
 * arrived in between.
 */
export class LfsHoldings {
  private own = new Set<LfsObject>();

  constructor(
    private readonly memory: MemoryBudget,
    private shared?: SharedLfsObjects,
  ) {}

  /** Adds an object whose bytes were taken from the budget. */
  add(object: LfsObject): void {
    this.own.add(object);
  }

  /** Removes objects that the world no longer contains. Gives back those that no snapshot contains. */
  remove(objects: Iterable<LfsObject>): void {
    for (const object of objects) if (this.own.delete(object)) this.memory.give(heldBytesOf(object));
  }

  /** Returns the current objects for a snapshot, which the caller releases; undefined if there are none. */
  share(): SharedLfsObjects | undefined {
    if (this.own.size > 0) {
      this.shared = new SharedLfsObjects(this.own, this.shared);
      this.own = new Set();
    }
    return holdLfsObjects(this.shared);
  }

  /** True if snapshots share objects with the world. */
  get isShared(): boolean {
    return this.shared !== undefined;
  }

  /** Releases all objects except `held`, the objects of the world. */
  keepOnly(held: ReadonlySet<LfsObject>): void {
    this.takeBack();
    for (const object of this.own) if (!held.has(object)) this.remove([object]);
    while (this.shared && ![...this.shared.objects].some((object) => held.has(object))) {
      const below = holdLfsObjects(this.shared.below);
      releaseLfsObjects(this.shared, this.memory);
      this.shared = below;
    }
  }

  /** Releases all objects. */
  release(): void {
    for (const object of this.own) this.memory.give(heldBytesOf(object));
    this.own.clear();
    releaseLfsObjects(this.shared, this.memory);
    this.shared = undefined;
  }

  /** Moves objects that no snapshot references any more back into the world's own layer. */
  private takeBack(): void {
    for (; this.shared?.holders === 1; this.shared = this.shared.below)
      for (const object of this.shared.objects) this.own.add(object);
  }
}

export function holdLfsObjects(shared: SharedLfsObjects | undefined): SharedLfsObjects | undefined {
  if (shared) shared.holders++;
  return shared;
}

export function releaseLfsObjects(shared: SharedLfsObjects | undefined, memory: MemoryBudget): void {
  for (let at = shared; at !== undefined && --at.holders === 0; at = at.below)
    for (const object of at.objects) memory.give(heldBytesOf(object));
}

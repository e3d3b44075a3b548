import type { MemoryBudget } from '../memory/memory-budget.js';
import { emptyMap, type SortedMap } from './sorted-records.js';

/** Content of one LFS object (large file). It stays in memory while a repository record references it. */
export interface LfsObject {
  readonly size: number;
  /** Content of the file, split into blocks. */
  readonly blocks: readonly Buffer[];
  /** Time of the upload in milliseconds on the emulator's clock. */
  readonly storedAt: number;
}

/**
 * Number of bytes that the memory budget counts for each object besides its content. Otherwise many small objects would
 * count as almost nothing.
 */
const OVERHEAD = 256;

/** Returns the number of bytes that the memory budget counts for an LFS object. */
export function heldBytesOf({ size }: Pick<LfsObject, 'size'>): number {
  return size + OVERHEAD;
}

/**
 * Returns true if the text could be a Git LFS object id: a SHA-256 in lower-case hexadecimal digits (git-lfs,
 * docs/spec.md).
 */
export function isLfsOid(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** LFS objects of one repository, by id. A fork starts with the same map, so shared objects are in memory only once. */
export type LfsObjects = SortedMap<string, LfsObject>;

export const NO_LFS_OBJECTS: LfsObjects = emptyMap();

/**
 * Returns the LFS objects that only the repository `own` contains, and no repository in `others`. Their memory can be
 * freed when `own` is deleted.
 */
export function heldAlone(own: LfsObjects, others: Iterable<LfsObjects>): Iterable<LfsObject> {
  let alone: Map<string, LfsObject> | undefined;
  for (const other of others) {
    if (other === own) return [];
    alone ??= new Map(own.entries());
    // The loop runs over the smaller map. It is usually short, because most repositories have no objects in common.
    const oids = other.size < alone.size ? other.keys() : alone.keys();
    for (const oid of oids) if (alone.get(oid) === other.get(oid)) alone.delete(oid);
    if (alone.size === 0) return [];
  }
  return alone?.values() ?? own.values();
}

/**
 * LFS objects that several snapshots and worlds (states of emulated services) share. `holders` is a reference count.
 * When it becomes 0, the bytes are returned to the memory budget. `parent` contains the objects of older snapshots.
 */
export class SharedLfsObjects {
  holders = 1;

  constructor(
    readonly objects: ReadonlySet<LfsObject>,
    readonly parent: SharedLfsObjects | undefined,
  ) {}
}

/**
 * Counts the memory of the LFS objects of one world (state of an emulated service). An upload takes the object's bytes
 * from the memory budget. They are given back when neither the world nor one of its snapshots contains the object.
 *
 * `own` has the objects that were added since the last snapshot; only the world uses them. `shared` has older objects,
 * which snapshots also reference. The cost of a snapshot or a restore therefore depends only on the number of objects
 * added since the last one.
 */
export class LfsHoldings {
  private own = new Set<LfsObject>();

  constructor(
    private readonly memory: MemoryBudget,
    private shared?: SharedLfsObjects,
  ) {}

  /** Adds an uploaded object. The caller must have taken its bytes from the memory budget. */
  add(object: LfsObject): void {
    this.own.add(object);
  }

  /**
   * Removes objects that the world (state of an emulated service) no longer contains. Their bytes return to the memory
   * budget, unless a snapshot contains the objects.
   */
  remove(objects: Iterable<LfsObject>): void {
    for (const object of objects) if (this.own.delete(object)) this.memory.give(heldBytesOf(object));
  }

  /**
   * Returns the current objects for a new snapshot; undefined if there are none. The snapshot must release them later.
   */
  share(): SharedLfsObjects | undefined {
    if (this.own.size > 0) {
      this.shared = new SharedLfsObjects(this.own, this.shared);
      this.own = new Set();
    }
    return holdLfsObjects(this.shared);
  }

  /**
   * True if snapshots share objects with the world (state of an emulated service). `remove` does not free shared
   * objects.
   */
  get isShared(): boolean {
    return this.shared !== undefined;
  }

  /**
   * Releases all objects that the world (state of an emulated service) no longer contains. `held` is the set of objects
   * that it still contains.
   */
  keepOnly(held: ReadonlySet<LfsObject>): void {
    this.takeBack();
    for (const object of this.own) if (!held.has(object)) this.remove([object]);
    while (this.shared && ![...this.shared.objects].some((object) => held.has(object))) {
      const parent = holdLfsObjects(this.shared.parent);
      releaseLfsObjects(this.shared, this.memory);
      this.shared = parent;
    }
  }

  /** Releases all objects. Called when another world (state of an emulated service) replaces this world. */
  release(): void {
    for (const object of this.own) this.memory.give(heldBytesOf(object));
    this.own.clear();
    releaseLfsObjects(this.shared, this.memory);
    this.shared = undefined;
  }

  /**
   * Moves objects that no snapshot references any more from the shared layers to `own`. Then they can be freed one by
   * one.
   */
  private takeBack(): void {
    for (; this.shared?.holders === 1; this.shared = this.shared.parent)
      for (const object of this.shared.objects) this.own.add(object);
  }
}

export function holdLfsObjects(shared: SharedLfsObjects | undefined): SharedLfsObjects | undefined {
  if (shared) shared.holders++;
  return shared;
}

export function releaseLfsObjects(shared: SharedLfsObjects | undefined, memory: MemoryBudget): void {
  for (let at = shared; at !== undefined && --at.holders === 0; at = at.parent)
    for (const object of at.objects) memory.give(heldBytesOf(object));
}

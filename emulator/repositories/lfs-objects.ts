import type { MemoryBudget } from '../memory/memory-budget.js';
import { emptyMap, type SortedMap } from './sorted-records.js';

/** Content of one LFS object (large file). It stays in memory while a repository record references it. */
export interface LfsObject {
  readonly size: number;
  /** Content of the file in pieces, in order. */
  readonly blocks: readonly Buffer[];
  /** Time of the upload in milliseconds on the emulator's clock. */
  readonly storedAt: number;
}

/**
 * Number of bytes that the memory budget counts for an object in addition to its content. Without it, many small
 * objects would count as almost nothing.
 */
const OVERHEAD = 256;

/** Returns the number of bytes that the memory budget counts for an LFS object. */
export function heldBytesOf({ size }: Pick<LfsObject, 'size'>): number {
  return size + OVERHEAD;
}

/**
 * Returns true if the text has the form of a Git LFS object id: the SHA-256 of the content in lower-case hexadecimal
 * digits (git-lfs, docs/spec.md).
 */
export function isLfsOid(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/**
 * LFS objects of one repository by id. A fork of the repository starts with the same map, so objects that both contain
 * are in memory once.
 */
export type LfsObjects = SortedMap<string, LfsObject>;

export const NO_LFS_OBJECTS: LfsObjects = emptyMap();

/**
 * Returns the LFS objects of the repository `own` that no repository in `others` contains. Their memory can be freed
 * when `own` is deleted.
 */
export function heldAlone(own: LfsObjects, others: Iterable<LfsObjects>): Iterable<LfsObject> {
  let alone: Map<string, LfsObject> | undefined;
  for (const other of others) {
    if (other === own) return [];
    alone ??= new Map(own.entries());
    // The loop iterates over the smaller of the two maps. Most repositories have no objects in common, so the loop is
    // short.
    const oids = other.size < alone.size ? other.keys() : alone.keys();
    for (const oid of oids) if (alone.get(oid) === other.get(oid)) alone.delete(oid);
    if (alone.size === 0) return [];
  }
  return alone?.values() ?? own.values();
}

/**
 * LFS objects that several snapshots and worlds (states of emulated services) share. They have a reference count
 * (`holders`). Their bytes are returned to the memory budget when the last holder releases them. `below` contains the
 * objects of older snapshots.
 */
export class SharedLfsObjects {
  holders = 1;

  constructor(
    readonly objects: ReadonlySet<LfsObject>,
    readonly below: SharedLfsObjects | undefined,
  ) {}
}

/**
 * Counts the memory of the LFS objects of one world. An object is taken from the memory budget when it is uploaded, and
 * given back when neither the world nor one of its snapshots contains it.
 *
 * Objects that were added since the last snapshot are in `own` and belong to the world alone. Older ones are in
 * `shared`, which snapshots also reference. The cost of a snapshot or a restore therefore depends only on the number of
 * objects that were added in between.
 */
export class LfsHoldings {
  private own = new Set<LfsObject>();

  constructor(
    private readonly memory: MemoryBudget,
    private shared?: SharedLfsObjects,
  ) {}

  /** Adds an uploaded object. The caller has already taken its bytes from the memory budget. */
  add(object: LfsObject): void {
    this.own.add(object);
  }

  /**
   * Removes objects that the world (state of an emulated service) no longer contains. The bytes of objects that no
   * snapshot contains are given back to the memory budget.
   */
  remove(objects: Iterable<LfsObject>): void {
    for (const object of objects) if (this.own.delete(object)) this.memory.give(heldBytesOf(object));
  }

  /**
   * Returns the current objects for a new snapshot, which must release them later; undefined if there are no objects.
   */
  share(): SharedLfsObjects | undefined {
    if (this.own.size > 0) {
      this.shared = new SharedLfsObjects(this.own, this.shared);
      this.own = new Set();
    }
    return holdLfsObjects(this.shared);
  }

  /**
   * True if snapshots share objects with the world (state of an emulated service). Objects in shared layers are not
   * freed by `remove`.
   */
  get isShared(): boolean {
    return this.shared !== undefined;
  }

  /**
   * Releases all objects that the world (state of an emulated service) does not contain any more. `held` contains the
   * objects that the world still contains.
   */
  keepOnly(held: ReadonlySet<LfsObject>): void {
    this.takeBack();
    for (const object of this.own) if (!held.has(object)) this.remove([object]);
    while (this.shared && ![...this.shared.objects].some((object) => held.has(object))) {
      const below = holdLfsObjects(this.shared.below);
      releaseLfsObjects(this.shared, this.memory);
      this.shared = below;
    }
  }

  /** Releases all objects of the world (state of an emulated service), because another world replaces it. */
  release(): void {
    for (const object of this.own) this.memory.give(heldBytesOf(object));
    this.own.clear();
    releaseLfsObjects(this.shared, this.memory);
    this.shared = undefined;
  }

  /**
   * Moves the objects of shared layers that no snapshot references any more into `own`, so that they can be freed one
   * by one.
   */
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

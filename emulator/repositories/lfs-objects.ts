import type { MemoryBudget } from '../memory/memory-budget.js';
import { emptyMap, type SortedMap } from './sorted-records.js';

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

/**
 * The LFS objects of one repository, by id. A fork starts with the value of its source, so what both hold is in memory
 * once.
 */
export type LfsObjects = SortedMap<string, LfsObject>;

export const NO_LFS_OBJECTS: LfsObjects = emptyMap();

/** The objects that none of `others` has: what is free once `own` is let go of. */
export function heldAlone(own: LfsObjects, others: Iterable<LfsObjects>): Iterable<LfsObject> {
  let alone: Map<string, LfsObject> | undefined;
  for (const other of others) {
    if (other === own) return [];
    alone ??= new Map(own.entries());
    // Repositories that have nothing to do with each other are compared by the shorter list.
    const oids = other.size < alone.size ? other.keys() : alone.keys();
    for (const oid of oids) if (alone.get(oid) === other.get(oid)) alone.delete(oid);
    if (alone.size === 0) return [];
  }
  return alone?.values() ?? own.values();
}

/** LFS objects that are held for several at once: they are given back when the last of them has let go. */
export class SharedLfsObjects {
  holders = 1;

  constructor(
    readonly objects: ReadonlySet<LfsObject>,
    readonly below: SharedLfsObjects | undefined,
  ) {}
}

/**
 * What counts as held of the LFS objects of one world. An object is taken when it comes, and given back when neither
 * the world nor a snapshot of it has it any more. Objects that came since the last snapshot are the world's
 * alone; those before are the snapshot's as well. So a snapshot, and a restore, cost what came in between.
 */
export class LfsHoldings {
  private own = new Set<LfsObject>();

  constructor(
    private readonly memory: MemoryBudget,
    private shared?: SharedLfsObjects,
  ) {}

  /** Bytes of `object` were taken for this world. */
  add(object: LfsObject): void {
    this.own.add(object);
  }

  /** The world has none of `objects` any more: gives back those that no snapshot has either. */
  remove(objects: Iterable<LfsObject>): void {
    for (const object of objects) if (this.own.delete(object)) this.memory.give(heldBytesOf(object));
  }

  /** What it holds now, for a snapshot: the caller releases it. */
  share(): SharedLfsObjects | undefined {
    if (this.own.size > 0) {
      this.shared = new SharedLfsObjects(this.own, this.shared);
      this.own = new Set();
    }
    return holdLfsObjects(this.shared);
  }

  /** Whether objects are held for snapshots as well. */
  get isShared(): boolean {
    return this.shared !== undefined;
  }

  /** Lets go of what is not among `held`: all that the world has. */
  keepOnly(held: ReadonlySet<LfsObject>): void {
    this.takeBack();
    for (const object of this.own) if (!held.has(object)) this.remove([object]);
    while (this.shared && ![...this.shared.objects].some((object) => held.has(object))) {
      const below = holdLfsObjects(this.shared.below);
      releaseLfsObjects(this.shared, this.memory);
      this.shared = below;
    }
  }

  /** Lets go of all of it. */
  release(): void {
    for (const object of this.own) this.memory.give(heldBytesOf(object));
    this.own.clear();
    releaseLfsObjects(this.shared, this.memory);
    this.shared = undefined;
  }

  /** What no snapshot holds any more is the world's alone again. */
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

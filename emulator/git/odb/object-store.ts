import { MemoryBudget } from '../../memory/memory-budget.js';
import { type CacheGroup, MemoryCache } from '../../memory/memory-cache.js';
import type { Meter } from '../../schedule/meter.js';
import { Schedule } from '../../schedule/schedule.js';
import { runSync, runYielding } from '../../schedule/steps.js';
import { OTHER_LIMITS, type StoreLimits } from '../limits/store-limits.js';
import { type HashBytes, hashBytes } from '../object/object-hash.js';
import { mergeTables, tablesToMerge } from './merge-tables.js';
import type { Extent, ObjectTable } from './object-table.js';
import { Quarantine } from './quarantine.js';
import { RepackCache } from './repack-cache.js';
import { Scratch } from './scratch.js';
import { StoreReader } from './store-reader.js';
import { StoredObjects } from './stored-objects.js';

/** Capacity in bytes of the cache of a store that was created without a shared cache. */
const OWN_CACHE = 48 * 1024 * 1024;
/**
 * Minimum number of stored objects per loose object (stored outside a pack) at which a fetch may send the stored packs
 * unchanged. Loose objects are not deltas, so many of them would make the response larger.
 */
const FEW = 16;
/**
 * Minimum average number of objects per pack at which a fetch may send the stored packs unchanged. A client that pushed
 * a large pack has found most of the possible deltas.
 */
const OBJECTS_PER_PACK = 256;
/**
 * Maximum total number of objects in tables that are merged without yielding. Larger merges yield, so that other
 * requests can run.
 */
const MERGED_AT_ONCE = 2048;

export interface ObjectStoreOptions {
  readonly limits?: Partial<StoreLimits>;
  /** Limit on the memory of all stores that share this budget. */
  readonly budget?: MemoryBudget;
  /** Cache shared with other stores. If undefined, the store creates its own cache. */
  readonly caches?: MemoryCache;
  /** Schedule to which the work of reading objects is reported. It accounts for the CPU work of all requests. */
  readonly schedule?: Schedule;
  /** Inflater (zlib decompressor) and scratch memory shared with other stores. */
  readonly scratch?: Scratch;
  /** Replacement for the SHA-1 function. Tests use it to produce hash collisions. */
  readonly hash?: HashBytes;
}

/**
 * Published (visible) objects of one repository. Objects are only added, through a quarantine, and never change. An
 * object number and the bytes of its object therefore stay valid.
 *
 * A fork starts with the objects that another store has at that moment. Both stores share these objects. Objects that
 * are added to one store later do not appear in the other (copy-on-write).
 */
export class ObjectStore extends StoreReader {
  /** Caches of all data computed from the objects of this store. Closed when the repository is deleted. */
  readonly caches: CacheGroup;
  /**
   * Compressed objects and deltas that were produced for packs sent to clients. They are kept so that later packs can
   * contain them without new work.
   */
  readonly repackCache: RepackCache;
  readonly schedule: Schedule;
  readonly #options: ObjectStoreOptions;
  readonly #limits: StoreLimits;
  readonly #hash: HashBytes;
  #size: number;
  /** Fill level of the object table when the current writer began; undefined if there is no writer. */
  #before: Extent | undefined;
  #isReleased = false;
  /**
   * Immutable view of the published objects with which new forks start. It is discarded when more objects are
   * published.
   */
  #frozenTable: ObjectTable | undefined;

  constructor(options: ObjectStoreOptions = {}, base?: ObjectTable) {
    const limits = { ...OTHER_LIMITS, ...options.limits };
    const caches = (options.caches ?? new MemoryCache(OWN_CACHE)).group();
    const budget = new MemoryBudget(Number.POSITIVE_INFINITY, options.budget);
    const schedule = options.schedule ?? new Schedule();
    super(new StoredObjects(caches, options.scratch ?? new Scratch(), budget, schedule, base));
    this.#options = options;
    this.#limits = limits;
    this.#hash = options.hash ?? hashBytes;
    this.caches = caches;
    this.schedule = schedule;
    this.#size = this.stored.count;
    this.repackCache = new RepackCache(this.stored);
  }

  get size(): number {
    return this.#size;
  }

  /** Memory in bytes of packs and indexes. Memory shared with other stores is included. */
  get heldBytes(): number {
    return this.stored.heldBytes;
  }

  /**
   * Opens the store for adding objects. Only one writer is allowed at a time. Throws an error if the previous
   * quarantine was neither published nor discarded.
   */
  quarantine(): Quarantine {
    if (this.#before !== undefined) throw new Error('the store already has a writer');
    runSync(mergeTables(this.#tablesToMerge(MERGED_AT_ONCE), this.#options.budget));
    this.#before = this.stored.extent;
    return new Quarantine(this.stored, this.#before, this.#limits, this.#hash, () => {
      this.#before = undefined;
      if (this.stored.count !== this.#size) {
        this.#size = this.stored.count;
        this.#releaseFrozenTable();
      }
      if (this.#isReleased) this.stored.giveBack();
    });
  }

  /**
   * True if a writer should call `compact` first. This is so if the parent tables, which this store took over as a
   * fork, contain many objects to merge. `quarantine` merges only small tables, because it does not yield.
   */
  get isDeep(): boolean {
    return countOf(this.#tablesToMerge()) > MERGED_AT_ONCE;
  }

  /**
   * Merges the object tables that this store took over as a fork, so that a lookup visits fewer tables. The call is
   * optional; without it, lookups become slower with each fork of a fork. Yields between pieces of work, so that other
   * requests can run.
   */
  async compact(meter: Meter): Promise<void> {
    await runYielding(mergeTables(this.#tablesToMerge(), this.#options.budget), meter);
  }

  /**
   * Returns the parent tables that should be merged, or an empty list. Merging is possible only before the first write.
   * After it, this store's own table builds on the parent tables.
   */
  #tablesToMerge(max?: number): ObjectTable[] {
    const { parent, ownCount } = this.stored;
    return parent === undefined || ownCount > 0 || !parent.isHeld ? [] : tablesToMerge(parent, max);
  }

  /**
   * Removes the memory that only this store uses from the memory budgets. Called when the repository is deleted.
   * Readers that are still running keep their data. Memory that a running writer allocates counts until the writer
   * ends.
   */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#releaseFrozenTable();
    this.stored.giveBack();
    this.stored.release();
  }

  /**
   * Returns a new store that starts with the published objects of this store. The cost does not depend on their number,
   * because the objects are shared.
   */
  fork(options: ObjectStoreOptions = this.#options): ObjectStore {
    return new ObjectStore({ ...options, hash: this.#hash }, this.#frozen());
  }

  #frozen(): ObjectTable {
    const { parent } = this.stored;
    if (parent !== undefined && this.#size === this.stored.firstNumber) return parent;
    this.#frozenTable ??= this.stored.freeze(this.#before ?? this.stored.extent);
    return this.#frozenTable;
  }

  #releaseFrozenTable(): void {
    this.#frozenTable?.release();
    this.#frozenTable = undefined;
  }

  findRaw(bytes: Uint8Array, at: number): number {
    return this.stored.find(bytes, at);
  }

  /**
   * Returns true if a fetch of the `tips` (object numbers) with their history may send the stored packs unchanged.
   * Three conditions must be met: the tips reach all objects of the store, few objects are loose, and the packs are
   * large.
   *
   * For the first condition, it suffices that every unreferenced object (no other object refers to it) is a tip. All
   * objects are reachable from the unreferenced ones, because ids cannot form a cycle.
   */
  allowsPackReuse(tips: ReadonlySet<number>): boolean {
    for (const root of this.stored.unreferenced(this.#size)) if (!tips.has(root)) return false;
    const { looseCount, segmentCount } = this.stored;
    return looseCount * FEW <= this.#size && (segmentCount + 1) * OBJECTS_PER_PACK <= this.#size;
  }
}

function countOf(tables: readonly ObjectTable[]): number {
  return tables.length < 2 ? 0 : tables.reduce((sum, { ownCount }) => sum + ownCount, 0);
}

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

/** Capacity in bytes of the cache of a store that shares no cache. */
const OWN_CACHE = 48 * 1024 * 1024;
/**
 * A fetch may reuse the stored packs only if at most one object in this many is loose, because loose objects have no
 * delta.
 */
const FEW = 16;
/**
 * A fetch may reuse the stored packs only if they have this many objects on average, because their senders then found
 * most deltas.
 */
const OBJECTS_PER_PACK = 256;
/** Tables with at most this many objects in total are merged without yielding. */
const MERGED_AT_ONCE = 2048;

export interface ObjectStoreOptions {
  readonly limits?: Partial<StoreLimits>;
  /** Memory budget shared with other stores. */
  readonly budget?: MemoryBudget;
  /** Cache shared with other stores. */
  readonly caches?: MemoryCache;
  /** Schedule to which the work of reading is reported. */
  readonly schedule?: Schedule;
  /** Inflater and scratch memory shared with other stores. */
  readonly scratch?: Scratch;
  /** Replacement for SHA-1, for tests of hash collisions. */
  readonly hash?: HashBytes;
}

/**
 * Published objects of one repository. Objects are only added, through a quarantine, and never change, so an object
 * number and its bytes stay valid.
 *
 * A fork starts with the objects that another store has at that moment. Both share these objects (copy-on-write),
 * whatever is added to either later.
 */
export class ObjectStore extends StoreReader {
  /** Caches of everything derived from the objects. Closed when the repository is deleted. */
  readonly caches: CacheGroup;
  /** Zlib streams that were deflated for packs. */
  readonly repackCache: RepackCache;
  readonly schedule: Schedule;
  readonly #options: ObjectStoreOptions;
  readonly #limits: StoreLimits;
  readonly #hash: HashBytes;
  #size: number;
  /** Fill level when the current writer began; undefined if nobody is writing. */
  #before: Extent | undefined;
  #isReleased = false;
  /** Frozen table with which forks start. Discarded when something is published. */
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

  /** Number of bytes of packs and indexes in memory, including those shared with other stores. */
  get heldBytes(): number {
    return this.stored.heldBytes;
  }

  /**
   * Opens the store for writing. There is only one writer at a time: throws if the previous quarantine was neither
   * published nor discarded.
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

  /** True if the parent tables have so many objects to merge that a writer should call `compact` first. */
  get isDeep(): boolean {
    return countOf(this.#tablesToMerge()) > MERGED_AT_ONCE;
  }

  /**
   * Merges tables so that lookups are fast again; yields while it works. Optional: without it, lookups become slower
   * with every fork.
   */
  async compact(meter: Meter): Promise<void> {
    await runYielding(mergeTables(this.#tablesToMerge(), this.#options.budget), meter);
  }

  /**
   * Before its first write, this store has no table of its own, so its parent tables can be merged for all stores that
   * share them.
   */
  #tablesToMerge(max?: number): ObjectTable[] {
    const { parent, ownCount } = this.stored;
    return parent === undefined || ownCount > 0 || !parent.isHeld ? [] : tablesToMerge(parent, max);
  }

  /**
   * Releases all memory from the budgets that no other store shares. Readers that are still running keep their data.
   * Allocations of a running writer count until it ends.
   */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#releaseFrozenTable();
    this.stored.giveBack();
    this.stored.release();
  }

  /** Returns a new store that starts with the published objects. The cost does not depend on their number. */
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
   * Returns true if every unreferenced object is a tip, few objects are loose, and the packs are large. All objects are
   * reachable from the unreferenced ones, because ids cannot form a cycle.
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

import { MemoryBudget } from '../../memory/memory-budget.js';
import { type CacheGroup, MemoryCache } from '../../memory/memory-cache.js';
import type { Meter } from '../../schedule/meter.js';
import { Schedule } from '../../schedule/schedule.js';
import { inSlices, runSync } from '../../schedule/steps.js';
import { OTHER_LIMITS, type StoreLimits } from '../limits/store-limits.js';
import { type HashBytes, hashBytes } from '../object/object-hash.js';
import { mergeTables, tablesToMerge } from './merge-tables.js';
import type { Extent, ObjectTable } from './object-table.js';
import { Quarantine } from './quarantine.js';
import { RepackCache } from './repack-cache.js';
import { Scratch } from './scratch.js';
import { StoreReader } from './store-reader.js';
import { StoredObjects } from './stored-objects.js';

/** Bytes of the cache of a store that shares none. */
const OWN_CACHE = 48 * 1024 * 1024;
/** Fewer than one in so many objects are loose, and so without deltas. */
const FEW = 16;
/** In packs of so many objects on average, their senders found most deltas there are. */
const OBJECTS_PER_PACK = 256;
/** Tables of so many objects together are made one at once. */
const MERGED_AT_ONCE = 2048;

export interface ObjectStoreOptions {
  readonly limits?: Partial<StoreLimits>;
  /** Bytes that this and other stores may hold together. */
  readonly budget?: MemoryBudget;
  /** A cache shared with other stores. */
  readonly caches?: MemoryCache;
  /** Where reading is reported to as work. */
  readonly schedule?: Schedule;
  /** Tools shared with other stores. */
  readonly scratch?: Scratch;
  /** Another hash than SHA-1, for tests of what happens when two objects have the same. */
  readonly hash?: HashBytes;
}

/**
 * The published objects of one repository. They are only ever added, through a quarantine, and never
 * change: a number and the bytes read by it stay valid for good.
 *
 * A fork starts with the objects that another store has then, and shares them, whatever either adds later.
 */
export class ObjectStore extends StoreReader {
  /** The caches of everything derived from the objects; closed when the repository is deleted. */
  readonly caches: CacheGroup;
  /** Streams that were deflated for packs. */
  readonly repackCache: RepackCache;
  readonly schedule: Schedule;
  readonly #options: ObjectStoreOptions;
  readonly #limits: StoreLimits;
  readonly #hash: HashBytes;
  #size: number;
  /** How far it was filled when the writer that is at work began. */
  #before: Extent | undefined;
  #isReleased = false;
  /** What forks start with, until something else is published. */
  #mark: ObjectTable | undefined;

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

  /** Bytes of packs and indexes held, shared or not. */
  get heldBytes(): number {
    return this.stored.heldBytes;
  }

  /**
   * Opens the store for writing. There is one writer at a time: opening it again before `publish` or
   * `discard` throws.
   */
  quarantine(): Quarantine {
    if (this.#before !== undefined) throw new Error('the store is being written to already');
    runSync(mergeTables(this.#tablesToMerge(MERGED_AT_ONCE), this.#options.budget));
    this.#before = this.stored.extent;
    return new Quarantine(this.stored, this.#before, this.#limits, this.#hash, () => {
      this.#before = undefined;
      if (this.stored.count !== this.#size) {
        this.#size = this.stored.count;
        this.#forgetMark();
      }
      if (this.#isReleased) this.stored.giveBack();
    });
  }

  /** Whether much was written between one fork and the next: a writer should `settle` the store first. */
  get isDeep(): boolean {
    return countOf(this.#tablesToMerge()) > MERGED_AT_ONCE;
  }

  /** Makes lookups cheap again, in slices. Without it everything works, but slower from fork to fork. */
  async settle(meter: Meter): Promise<void> {
    await inSlices(mergeTables(this.#tablesToMerge(), this.#options.budget), meter);
  }

  /** Before the first write there is no table of its own yet: the ones below can be made one for all that share them. */
  #tablesToMerge(most?: number): ObjectTable[] {
    const { below, ownCount } = this.stored;
    return below === undefined || ownCount > 0 || !below.isHeld ? [] : tablesToMerge(below, most);
  }

  /**
   * Gives everything back to the budgets that no other holds. Readers under way end with what they hold; what a writer
   * under way takes counts until it ends.
   */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#forgetMark();
    this.stored.giveBack();
    this.stored.release();
  }

  /** A store of its own that starts with the published objects. What that costs does not depend on their number. */
  fork(options: ObjectStoreOptions = this.#options): ObjectStore {
    return new ObjectStore({ ...options, hash: this.#hash }, this.#frozen());
  }

  #frozen(): ObjectTable {
    const { below } = this.stored;
    if (below !== undefined && this.#size === this.stored.first) return below;
    this.#mark ??= this.stored.freeze(this.#before ?? this.stored.extent);
    return this.#mark;
  }

  #forgetMark(): void {
    this.#mark?.release();
    this.#mark = undefined;
  }

  findRaw(bytes: Uint8Array, at: number): number {
    return this.stored.find(bytes, at);
  }

  /** The objects that no object points at lead to all others, because ids cannot form a circle. */
  allowsPackReuse(tips: ReadonlySet<number>): boolean {
    for (const root of this.stored.unreferenced(this.#size)) if (!tips.has(root)) return false;
    const { looseCount, segmentCount } = this.stored;
    return looseCount * FEW <= this.#size && (segmentCount + 1) * OBJECTS_PER_PACK <= this.#size;
  }
}

function countOf(tables: readonly ObjectTable[]): number {
  return tables.length < 2 ? 0 : tables.reduce((sum, { ownCount }) => sum + ownCount, 0);
}

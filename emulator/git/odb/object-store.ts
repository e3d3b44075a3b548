import { DEFAULT_LIMITS, type StoreLimits } from '../limits/store-limits.js';
import { MemoryBudget } from '../memory/memory-budget.js';
import { type CacheGroup, MemoryCache } from '../memory/memory-cache.js';
import type { ObjectReader, Oid, TypeCode } from '../object/object.js';
import { type HashBytes, hashBytes } from '../object/object-hash.js';
import { OID_BYTES, OidSlots } from '../object/oid-slots.js';
import { Meter } from '../schedule/meter.js';
import { Schedule } from '../schedule/schedule.js';
import { findPrefix } from './oid-prefix.js';
import { Quarantine } from './quarantine.js';
import { RepackCache } from './repack-cache.js';
import { Scratch } from './scratch.js';
import { LOOSE, StoredObjects } from './stored-objects.js';

const DEFAULT_CACHE = 48 * 1024 * 1024;
/** Fewer than one in so many objects are loose, and so without deltas. */
const FEW = 16;
/** In packs of so many objects on average, their senders found most deltas there are. */
const OBJECTS_PER_PACK = 256;

export interface ObjectStoreOptions {
  /** Bytes of inflated objects kept at hand, without `caches`. */
  readonly cacheBytes?: number;
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

/** The published objects of a store at one time. */
export interface StoreMark {
  readonly size: number;
  /** Which of them others refer to. */
  readonly referenced: Uint8Array;
}

/**
 * The published objects of one repository. They are only ever added, through a quarantine, and never
 * change: a number and the bytes read by it stay valid for good.
 */
export class ObjectStore implements ObjectReader {
  /** Where the objects lie, for the pack writer. Numbers from `size` on are not published. */
  readonly stored: StoredObjects;
  /** The caches of everything derived from the objects; closed when the repository is deleted. */
  readonly caches: CacheGroup;
  /** Streams that were deflated for packs. */
  readonly repackCache: RepackCache;
  readonly schedule: Schedule;
  /** Transactions that are open on it. */
  transactions = 0;
  readonly #limits: StoreLimits;
  readonly #hash: HashBytes;
  readonly #raw = Buffer.alloc(OID_BYTES);
  #slots = new OidSlots();
  #size = 0;
  #isWriting = false;
  #isReleased = false;
  /** The last one, until something else is published. */
  #mark: StoreMark | undefined;

  constructor(options: ObjectStoreOptions = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#hash = options.hash ?? hashBytes;
    this.caches = (options.caches ?? new MemoryCache(options.cacheBytes ?? DEFAULT_CACHE)).group();
    const budget = new MemoryBudget(this.#limits.heldBytes, options.budget);
    this.schedule = options.schedule ?? new Schedule();
    this.stored = new StoredObjects(this.caches, options.scratch ?? new Scratch(), budget, this.schedule);
    this.repackCache = new RepackCache(this.caches);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of packs and indexes held. */
  get heldBytes(): number {
    return this.stored.budget.used;
  }

  /**
   * Opens the store for writing. There is one writer at a time: opening it again before `publish` or
   * `discard` throws.
   */
  quarantine(): Quarantine {
    if (this.#isWriting) throw new Error('the store is being written to already');
    this.#isWriting = true;
    return new Quarantine(this.stored, this.#size, this.#slots, this.#limits, this.#hash, (slots) => {
      this.#isWriting = false;
      if (slots !== undefined) {
        this.#slots = slots;
        this.#size = this.stored.count;
        this.#mark = undefined;
        this.stored.publish();
      }
      if (this.#isReleased) this.#giveAllBack();
    });
  }

  /**
   * Gives everything back to the budgets. Readers under way end with what they hold; what a writer under way takes
   * counts until it ends.
   */
  release(): void {
    this.#isReleased = true;
    this.#giveAllBack();
    this.caches.close();
  }

  #giveAllBack(): void {
    const { budget } = this.stored;
    budget.give(budget.used);
  }

  /** What `copy` needs to know of the published objects as they are now. */
  mark(): StoreMark {
    this.#mark ??= { size: this.#size, referenced: this.stored.referenced.slice(0, this.#size) };
    return this.#mark;
  }

  /**
   * A store of its own with the objects that were published at `mark`, in slices. It shares their bytes with this one,
   * and counts them as its own; until `attach` they are part of no budget.
   */
  async copy({ size, referenced }: StoreMark, options: ObjectStoreOptions): Promise<ObjectStore> {
    const copy = new ObjectStore({ ...options, hash: this.#hash });
    copy.stored.copy(this.stored, size, referenced);
    copy.#slots = new OidSlots(size);
    copy.#size = size;
    const meter = new Meter({ schedule: this.schedule });
    for (let number = 0; number < size; number++) {
      copy.#slots.insert(copy.stored.oids, number);
      if ((number & 1023) === 1023 && meter.isOver) await meter.pass();
    }
    return copy;
  }

  find(oid: Oid): number {
    this.#raw.write(oid, 0, 'hex');
    return this.findRaw(this.#raw, 0);
  }

  findRaw(bytes: Uint8Array, at: number): number {
    return this.#slots.find(this.stored.oids, bytes, at);
  }

  findPrefix(prefix: string, limit: number): Oid[] {
    return findPrefix(this.stored.oids, this.#size, prefix, limit);
  }

  oidOf(number: number): Oid {
    return this.stored.oidOf(number);
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    this.stored.copyOid(number, target, at);
  }

  typeOf(number: number): TypeCode {
    return this.stored.types[number] as TypeCode;
  }

  sizeOf(number: number): number {
    return this.stored.sizes[number]!;
  }

  read(number: number): Buffer {
    return this.stored.read(number);
  }

  readInSlices(number: number, meter: Meter): Promise<Buffer> {
    return this.stored.readInSlices(number, meter);
  }

  peek<T>(number: number, look: (body: Buffer) => T): T {
    return this.stored.peek(number, look);
  }

  peeledOf(number: number): number | undefined {
    return this.stored.peeled.get(number);
  }

  /** The objects that no object points at lead to all others, because ids cannot form a circle. */
  allowsPackReuse(tips: ReadonlySet<number>): boolean {
    const { referenced, segmentOf, segments } = this.stored;
    for (let root = referenced.indexOf(0); root >= 0 && root < this.#size; root = referenced.indexOf(0, root + 1)) {
      if (!tips.has(root)) return false;
    }
    let loose = 0;
    for (let number = 0; number < this.#size; number++) if (segmentOf[number] === LOOSE) loose++;
    return loose * FEW <= this.#size && segments.length * OBJECTS_PER_PACK <= this.#size;
  }
}

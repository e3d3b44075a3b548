import type { MemoryBudget } from '../../memory/memory-budget.js';
import type { CacheGroup } from '../../memory/memory-cache.js';
import { COST } from '../../schedule/cost.js';
import type { Schedule } from '../../schedule/schedule.js';
import type { Steps } from '../../schedule/steps.js';
import { HEADROOM } from '../object/object-hash.js';
import type { TreeEntries } from '../object/tree-entries.js';
import { EntryHeader, LONGEST_HEADER } from '../pack/entry-header.js';
import { createInflater, type Inflater, inflateEntry, inflateSteps } from '../pack/inflater.js';
import { applyDelta, DeltaHeader, patchDelta } from '../pack/patch-delta.js';
import type { Segment } from '../pack/segment.js';
import { GrowingTable } from './growing-table.js';
import { type ObjectTable, UNDELTIFIED } from './object-table.js';
import type { Scratch } from './scratch.js';
import { TableCaches } from './table-caches.js';

/**
 * Minimum size in bytes of an object body that `readSteps` inflates in time slices. Inflating such a body at once would
 * delay other requests.
 */
const LARGE = 256 * 1024;
/** Interval of cached bodies when a delta chain is resolved: every eighth body of the chain is cached. */
const KEPT_STEP = 8;

/**
 * Access by object number to all objects of a store, including those of a running push, and to their bodies.
 * `ObjectStore` and `Quarantine` restrict which objects a reader can see.
 */
export class StoredObjects extends GrowingTable {
  readonly header = new EntryHeader();
  readonly #delta = new DeltaHeader();

  constructor(
    caches: CacheGroup,
    private readonly scratch: Scratch,
    budget: MemoryBudget,
    readonly schedule: Schedule,
    parent?: ObjectTable,
  ) {
    super(new TableCaches(caches), budget, parent);
  }

  /**
   * Returns the inflated body of an object, from the cache if possible. Throws `RangeError` if the object does not
   * exist.
   */
  read(number: number): Buffer {
    this.schedule.spend(COST.object);
    const known = this.knownBody(number);
    if (known !== undefined) return known;
    const body = Buffer.from(this.#make(number));
    this.#keep(number, body);
    return body;
  }

  /**
   * Variant of `read` that yields between pieces of work if a body in the delta chain is large, so that other requests
   * can run.
   */
  *readSteps(number: number): Steps<Buffer> {
    const known = this.knownBody(number);
    if (known !== undefined) return known;
    const chain = this.#chainOf(number);
    if (!chain.some((at) => this.sizeOf(at) >= LARGE)) return this.read(number);
    return yield* this.#makeSteps(chain);
  }

  /**
   * Calls `look` with the body of an object and returns its result. `look` must not keep the body. A body that is not
   * in memory is inflated into shared scratch memory and is not cached.
   */
  peek<T>(number: number, look: (body: Buffer) => T): T {
    this.schedule.spend(COST.object);
    return look(this.knownBody(number) ?? this.#make(number));
  }

  /** Returns true if the object is stored whole in a pack, that is neither as a delta nor as a loose object. */
  isUndeltifiedEntry(number: number): boolean {
    return this.baseOf(number) === UNDELTIFIED && !this.isLoose(number);
  }

  /**
   * Returns scratch memory for the entries of an intermediate tree of a delta chain. `turn` alternates between two
   * arrays, because each tree is computed from the previous one. The initial content is undefined.
   */
  cellScratch(turn: number, count: number): Int32Array {
    return this.scratch.cells(turn & 1, count);
  }

  /** Returns the decoded entries of a tree from the cache; undefined if the cache does not contain them. */
  knownEntries(tree: number): TreeEntries | undefined {
    return this.tableOf(tree).caches.entries.get(tree);
  }

  keepEntries(tree: number, entries: TreeEntries): void {
    this.tableOf(tree).caches.entries.setFinal(tree, entries);
  }

  /** Returns the body of an object if it is in memory in inflated form; undefined if it must be inflated. */
  knownBody(number: number): Buffer | undefined {
    if (!(number >= 0 && number < this.count)) throw new RangeError(`there is no object ${number}`);
    const table = this.tableOf(number);
    const at = number - table.firstNumber;
    const segment = table.segmentOf[at]!;
    if (segment < 0) return table.loose[~segment - table.firstLoose]!.bytes(table.offsets[at]!, table.ends[at]!);
    return table.caches.bodies.get(number) ?? table.pinned.get(number);
  }

  #keep(number: number, body: Buffer): void {
    this.tableOf(number).caches.bodies.set(number, body);
  }

  /** Returns the segment (memory of one pack or of loose objects) that contains the bytes of an object. */
  #segmentOf(number: number): Segment {
    return this.segmentAt(this.segmentOfObject(number));
  }

  /**
   * Inflates an object of a pack and applies its deltas. The result is in shared memory and is valid until the next
   * call.
   */
  #make(number: number): Buffer {
    if (this.baseOf(number) !== UNDELTIFIED) return this.#applyChain(this.#chainOf(number));
    const { output, size } = this.inflateEntry(number);
    return output.subarray(HEADROOM, HEADROOM + size);
  }

  /**
   * Returns the delta chain of an object as object numbers: the object, its delta base, the base of this base, and so
   * on. The chain ends at the first object whose body is in memory or that is not a delta.
   */
  #chainOf(number: number): number[] {
    const chain = [number];
    for (let at = number; this.baseOf(at) !== UNDELTIFIED; ) {
      at = this.baseOf(at);
      chain.push(at);
      if (this.knownBody(at) !== undefined) break;
    }
    return chain;
  }

  /**
   * Returns the body of the first object of `chain`. Each object in `chain` is a delta on the next one. Uses its own
   * inflater and memory, because other requests may use the shared ones during a yield.
   */
  *#makeSteps(chain: number[]): Steps<Buffer> {
    const inflater = createInflater();
    let body: Buffer | undefined;
    for (let step = chain.length - 1; step >= 0; step--) {
      const number = chain[step]!;
      const known = this.knownBody(number);
      if (known !== undefined) {
        body = known;
        continue;
      }
      const start = this.locate(number);
      const { size } = this.header;
      yield* inflateSteps(inflater, this.#segmentOf(number), start, this.endOf(number), size);
      if (body === undefined) body = inflater.takeOutput();
      else body = yield* patchDelta(body, inflater.output.subarray(HEADROOM, HEADROOM + size));
      if (step % KEPT_STEP === 0) this.#keep(number, body);
    }
    return body!;
  }

  /**
   * Variant of `#makeSteps` that does not yield and returns shared memory. The results of the deltas alternate between
   * two halves of an arena (reused memory), because allocating memory for each result takes twice as long.
   */
  #applyChain(chain: number[]): Buffer {
    const root = this.read(chain.pop()!);
    const largest = chain.reduce((max, number) => Math.max(max, this.sizeOf(number)), root.length);
    const arena = this.scratch.arena(largest * 2);
    root.copy(arena);
    let baseAt = 0;
    let baseSize = root.length;
    for (let step = chain.length - 1; step >= 0; step--) {
      const number = chain[step]!;
      const { output: delta, size } = this.inflateEntry(number);
      this.#delta.parse(delta, HEADROOM, HEADROOM + size);
      const { end: start, resultSize } = this.#delta;
      const resultAt = baseAt === 0 ? largest : 0;
      const limit = HEADROOM + size;
      applyDelta({ delta, start, limit, base: arena, baseAt, baseSize, result: arena, resultAt, resultSize });
      baseAt = resultAt;
      baseSize = resultSize;
      if (step > 0 && step % KEPT_STEP === 0)
        this.#keep(number, Buffer.from(arena.subarray(baseAt, baseAt + baseSize)));
    }
    return arena.subarray(baseAt, baseAt + baseSize);
  }

  /**
   * Inflates the content of an object's pack entry, which is a body or a delta. The result is valid until the next call
   * that inflates.
   */
  inflateEntry(number: number): Inflater {
    const start = this.locate(number);
    const { inflater } = this.scratch;
    const { size } = this.header;
    this.schedule.spend(COST.object + size * COST.byteInflated);
    return inflateEntry(inflater, this.#segmentOf(number), start, this.endOf(number), size);
  }

  /**
   * Parses the header of an object's pack entry into `this.header`. Returns the offset in the segment at which the
   * entry's compressed data (zlib stream) starts.
   */
  locate(number: number): number {
    const segment = this.#segmentOf(number);
    const offset = this.offsetOf(number);
    const end = this.endOf(number);
    const { slab, start, end: limit } = segment.pieceAt(offset, end);
    if (limit - start >= Math.min(LONGEST_HEADER, end - offset)) {
      this.header.parse(slab, start, limit);
      return offset + this.header.end - start;
    }
    const bytes = segment.bytes(offset, Math.min(end, offset + LONGEST_HEADER));
    this.header.parse(bytes, 0, bytes.length);
    return offset + this.header.end;
  }
}

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

/** A body this large is made in slices where its reader can wait. */
const LARGE = 256 * 1024;
/** Of a chain that is resolved, each body this many steps from the last is worth keeping. */
const KEPT_STEP = 8;

/**
 * All objects of a store by number, published or not, and their bodies. Which of them a reader may see is decided by
 * `ObjectStore` and `Quarantine`.
 */
export class StoredObjects extends GrowingTable {
  readonly header = new EntryHeader();
  readonly #delta = new DeltaHeader();

  constructor(
    caches: CacheGroup,
    private readonly scratch: Scratch,
    budget: MemoryBudget,
    readonly schedule: Schedule,
    below?: ObjectTable,
  ) {
    super(new TableCaches(caches), budget, below);
  }

  /** The inflated body of an object. Throws `RangeError` where there is none. */
  read(number: number): Buffer {
    this.schedule.spend(COST.object);
    const known = this.knownBody(number);
    if (known !== undefined) return known;
    const body = Buffer.from(this.#make(number));
    this.#keep(number, body);
    return body;
  }

  /** As `read`, in steps: of an object that is large or made of large ones. */
  *readSteps(number: number): Steps<Buffer> {
    const known = this.knownBody(number);
    if (known !== undefined) return known;
    const chain = this.#chainOf(number);
    if (!chain.some((at) => this.sizeOf(at) >= LARGE)) return this.read(number);
    return yield* this.#makeSteps(chain);
  }

  /** What `look` makes of the body. A body that is not at hand is made in the scratch memory, and not cached. */
  peek<T>(number: number, look: (body: Buffer) => T): T {
    this.schedule.spend(COST.object);
    return look(this.knownBody(number) ?? this.#make(number));
  }

  /** Whether the object is an entry of a pack and no delta. */
  isUndeltifiedEntry(number: number): boolean {
    return this.baseOf(number) === UNDELTIFIED && !this.isLoose(number);
  }

  /** Room for the entries of a tree on the way to another's: two take turns. They hold anything. */
  cellScratch(turn: number, count: number): Int32Array {
    return this.scratch.cells(turn & 1, count);
  }

  /** The entries of a tree that were kept. */
  knownEntries(tree: number): TreeEntries | undefined {
    return this.tableOf(tree).caches.entries.get(tree);
  }

  keepEntries(tree: number, entries: TreeEntries): void {
    this.tableOf(tree).caches.entries.setFinal(tree, entries);
  }

  /** The body of an object that need not be inflated; undefined if it does. */
  knownBody(number: number): Buffer | undefined {
    if (!(number >= 0 && number < this.count)) throw new RangeError(`there is no object ${number}`);
    const table = this.tableOf(number);
    const at = number - table.first;
    const segment = table.segmentOf[at]!;
    if (segment < 0) return table.loose[~segment - table.firstLoose]!.bytes(table.offsets[at]!, table.ends[at]!);
    return table.caches.bodies.get(number) ?? table.pinned.get(number);
  }

  #keep(number: number, body: Buffer): void {
    this.tableOf(number).caches.bodies.set(number, body);
  }

  /** The segment of an object. */
  #segmentOf(number: number): Segment {
    return this.segmentAt(this.segmentOfObject(number));
  }

  /** The body of an entry of a pack, in memory of the inflater or of the arena. */
  #make(number: number): Buffer {
    if (this.baseOf(number) !== UNDELTIFIED) return this.#applyChain(this.#chainOf(number));
    const { output, size } = this.inflateEntry(number);
    return output.subarray(HEADROOM, HEADROOM + size);
  }

  /** The object, what it is a delta on, and so on to the first body that is at hand or whole. */
  #chainOf(number: number): number[] {
    const chain = [number];
    for (let at = number; this.baseOf(at) !== UNDELTIFIED; ) {
      at = this.baseOf(at);
      chain.push(at);
      if (this.knownBody(at) !== undefined) break;
    }
    return chain;
  }

  /** The body of the first of `chain`, in memory of its own: while others are served, the tools are theirs. */
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
   * As `#makeSteps`, at once. Even and odd results take turns in two halves of an arena, because memory of its own for
   * each takes twice as long.
   */
  #applyChain(chain: number[]): Buffer {
    const root = this.read(chain.pop()!);
    const largest = chain.reduce((most, number) => Math.max(most, this.sizeOf(number)), root.length);
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

  /** Inflates what an entry of a pack segment holds: a body, or a delta. Good until the next call that inflates. */
  inflateEntry(number: number): Inflater {
    const start = this.locate(number);
    const { inflater } = this.scratch;
    const { size } = this.header;
    this.schedule.spend(COST.object + size * COST.byteInflated);
    return inflateEntry(inflater, this.#segmentOf(number), start, this.endOf(number), size);
  }

  /** Reads the header of an object in a pack segment into `header`; returns where its zlib stream starts. */
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

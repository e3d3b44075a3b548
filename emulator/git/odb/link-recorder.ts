import { IntList } from '../../memory/int-list.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, runSync, type Steps } from '../../schedule/steps.js';
import { commitTimes } from '../object/commit.js';
import { MalformedObject } from '../object/malformed-object.js';
import { BLOB, COMMIT, TREE, type TypeCode } from '../object/object.js';
import { TreeCursor } from '../object/tree-cursor.js';
import type { TreeNames } from '../object/tree-names.js';
import { eachCopy } from '../pack/patch-delta.js';
import type { EdgeList } from './edge-list.js';
import { type LinkRecords, NO_RECORD } from './link-records.js';
import type { StoredObjects } from './stored-objects.js';
import type { TreeLayout } from './tree-layout.js';

/**
 * Delta from which a tree was built. `base` contains the entries of the base tree. The instructions of the delta are
 * the bytes of `delta` from `start` to `limit` (exclusive).
 */
export interface TreeChange {
  readonly base: TreeLayout;
  readonly delta: Buffer;
  readonly start: number;
  readonly limit: number;
}

/**
 * Value of `#literal` and `#copied` if no run of that kind is being written. A run is a group of consecutive tree
 * entries.
 */
const NONE = -1;
/**
 * Minimum length in bytes of a copied range whose tree entries are taken from the record of the base tree. In shorter
 * ranges, the entries are parsed.
 */
const SHORTEST_RUN = 64;
/**
 * Maximum length of a chain of tree records in which each record is a delta on the next one. The chain must be followed
 * to read the entries of a tree.
 */
const LONGEST_CHAIN = 64;
/**
 * Largest time, in seconds since 1970, that fits into the record of a commit. A commit with a later time has no record;
 * its body is parsed whenever it is read.
 */
const MAX_SECONDS = 0xffffffff;

/**
 * Parses each new commit and tree once on receipt, while its body is in memory. The result serves two purposes:
 *
 * - The objects that it refers to (edges) are added to the `EdgeList`, for the connectivity check.
 * - Its decoded content (links) is added to the `LinkRecords`, so that later readers need not inflate and parse it
 *   again.
 *
 * For a tree received as a delta, only the entries that differ from its base are parsed. A copy instruction of the
 * delta guarantees equal bytes, so entries that lie completely inside the copied range are equal too. Usually only one
 * or two entries of a large folder change.
 *
 * Until `settle` runs, a record identifies an object by its index in the `EdgeList`, because the object may not be
 * received yet. `settle` replaces these indexes by object numbers.
 */
export class LinkRecorder {
  /**
   * Byte ranges in which the last recorded tree differs from its delta base. Each range is a pair of start and end
   * (exclusive) and includes the entries before and after the difference.
   */
  readonly changed = new IntList();
  readonly #names: TreeNames;
  /** Integers of the record (decoded commit or tree) that is being built. */
  readonly #record = new IntList();
  #layout: TreeLayout | undefined;
  /** Cursor over the entries of the tree that is being recorded. */
  #entry = new TreeCursor(Buffer.alloc(0));
  #count = 0;
  /**
   * State of the run that is being written; a run is a group of consecutive tree entries. A literal run contains the
   * entries themselves. A copied run refers to entries of the base tree.
   *
   * `#literal` or `#copied` is the index in `#record` of the length of the run; the other one is `NONE`. `#copiedTo` is
   * the index in the base after the last copied entry.
   */
  #literal = NONE;
  #copied = NONE;
  #copiedTo = 0;
  #usesBase = false;
  /**
   * `#previous` is the offset in the body of the entry that was read last. `#open` is the start of the range in
   * `changed` that has no end yet; -1 if none.
   */
  #previous = 0;
  #open = -1;

  constructor(
    readonly records: LinkRecords,
    private readonly edges: EdgeList,
  ) {
    this.#names = records.names;
  }

  /**
   * Reads a new object once and adds each object that it refers to to `edges`. Also stores the decoded content of a
   * commit or tree in `records`, so that history walks need not parse it again. Returns the position of the record, or
   * `NO_RECORD` if there is none. Sets `edges.isDoubtful` if the object is malformed.
   *
   * - `change`: delta from which a tree was built
   * - `layout`: receives the entries of a tree
   * - `maxTargets`: largest number of distinct objects that can exist
   */
  record(type: TypeCode, body: Buffer, maxTargets: number, change?: TreeChange, layout?: TreeLayout): number {
    const { edges } = this;
    if (type === BLOB || edges.isDoubtful) return NO_RECORD;
    if ((type !== TREE && type !== COMMIT) || this.#names.isFull) {
      runSync(edges.record(type, body, maxTargets));
      return NO_RECORD;
    }
    const record = this.#record;
    record.clear();
    const isRead = type === TREE ? this.#readTree(body, change, layout) : this.#readCommit(body);
    if (!isRead || edges.size > maxTargets) edges.isDoubtful = true;
    return edges.isDoubtful || record.length === 0 ? NO_RECORD : this.records.add(record.view());
  }

  /**
   * Fills `layout` with the entries of a tree that this writer received. Trees stored as deltas on this tree can then
   * be recorded. Returns false if the tree has no record.
   */
  layOut(objects: StoredObjects, number: number, layout: TreeLayout): boolean {
    const cells = this.#cellsOf(objects, number);
    if (cells === undefined) return false;
    let start = 0;
    layout.length = 0;
    for (let at = 0; at < cells.length; at += 2) {
      layout.add(start, cells[at]!, cells[at + 1]!);
      start += this.#names.lengthOf(cells[at]!);
    }
    layout.end(start);
    return true;
  }

  #cellsOf(objects: StoredObjects, number: number): Int32Array | undefined {
    const { records } = this;
    const chain: number[] = [];
    for (let at = number; ; at = objects.baseOf(at)) {
      const place = at < records.first ? NO_RECORD : objects.linksAt[at - objects.firstNumber]!;
      if (place < records.settled || chain.length > LONGEST_CHAIN) return undefined;
      chain.push(place);
      if (!records.needsBase(place)) break;
    }
    let cells: Int32Array | undefined;
    for (const place of chain.reverse()) {
      const own = new Int32Array(records.cellCount(place));
      records.readCells(place, cells, own);
      cells = own;
    }
    return cells;
  }

  /**
   * Makes the records of the objects from number `first` on readable. In these records, it replaces each index of the
   * `EdgeList` by the object number `numbers[index]`. Yields between pieces of work, so that other requests can run.
   */
  *settle(objects: StoredObjects, first: number, numbers: Int32Array): Steps<void> {
    const { records } = this;
    let work = 0;
    for (let number = first; number < objects.count; number++) {
      const place = objects.linksAt[number - objects.firstNumber]!;
      if (place >= records.settled) {
        work +=
          objects.typeOf(number) === COMMIT ? records.renameCommit(place, numbers) : this.#settleTree(place, numbers);
      }
      if (++work >= PIECE) {
        yield work * COST.operation;
        work = 0;
      }
    }
    records.settled = records.length;
  }

  #settleTree(place: number, numbers: Int32Array): number {
    let length = 2;
    this.records.eachOwnRun(place, (ints, start, end) => {
      for (let at = start; at < end; at += 2) {
        if (!this.#names.isGitlink(ints[at]!)) ints[at + 1] = numbers[ints[at + 1]!]!;
      }
      length += end - start;
    });
    return length;
  }

  #readCommit(body: Buffer): boolean {
    const targets = this.edges.recordCommit(body);
    if (targets === undefined) return false;
    const { authoredAt, committedAt } = commitTimes(body, targets.length - 1);
    if (authoredAt > MAX_SECONDS || committedAt > MAX_SECONDS) return true;
    const record = this.#record;
    record.push(targets.at(0));
    record.push(authoredAt);
    record.push(committedAt);
    record.push(targets.length - 1);
    for (let index = 1; index < targets.length; index++) record.push(targets.at(index));
    return true;
  }

  #readTree(body: Buffer, change?: TreeChange, layout?: TreeLayout): boolean {
    const entry = new TreeCursor(body);
    this.#record.push(0);
    this.#entry = entry;
    this.#layout = layout;
    this.#count = 0;
    this.#usesBase = false;
    this.#literal = this.#copied = NONE;
    this.#previous = 0;
    this.#open = -1;
    this.changed.clear();
    if (layout !== undefined) layout.length = 0;
    try {
      if (change !== undefined) this.#readCopies(change);
      while (entry.next()) this.#addLiteral();
    } catch (error) {
      if (error instanceof MalformedObject) return false;
      throw error;
    }
    if (this.#open >= 0) this.#closeRange(body.length);
    layout?.end(body.length);
    this.#record.set(0, this.#count * 2 + (this.#usesBase ? 1 : 0));
    return true;
  }

  #readCopies({ base, delta, start, limit }: TreeChange): void {
    const entry = this.#entry;
    eachCopy(delta, start, limit, (resultAt, baseAt, count) => {
      if (count < SHORTEST_RUN) return;
      while (entry.position < resultAt + count) {
        // The bytes from the cursor on are copied from the base tree, so they correspond to bytes of the base. If an
        // entry of the base starts at the corresponding byte, the cursor is at an equal entry.
        const index = entry.position < resultAt ? -1 : base.startingAt(baseAt + entry.position - resultAt);
        if (index >= 0) {
          const last = base.endedBy(baseAt + count);
          if (last > index) this.#copyRun(base, index, last);
          break;
        }
        if (!entry.next()) break;
        this.#addLiteral();
      }
    });
  }

  /**
   * Records that the next entries of the tree equal the entries `from` to `to` (exclusive) of its base. Moves the
   * cursor past these entries.
   */
  #copyRun(base: TreeLayout, from: number, to: number): void {
    const record = this.#record;
    const count = to - from;
    const start = this.#entry.position;
    const isNext = this.#copied !== NONE && from === this.#copiedTo;
    if (isNext) {
      record.set(this.#copied, record.at(this.#copied) + count * 2);
    } else {
      const firstEnd = start + base.starts[from + 1]! - base.starts[from]!;
      if (this.#open < 0 && this.#count > 0) this.#open = this.#previous;
      if (this.#open >= 0) this.#closeRange(firstEnd);
      this.#copied = record.length;
      record.push(count * 2);
      record.push(from);
    }
    this.#copiedTo = to;
    this.#literal = NONE;
    this.#usesBase = true;
    this.#count += count;
    this.#layout?.addRun(base, from, to, start);
    this.#previous = start + base.starts[to - 1]! - base.starts[from]!;
    this.#entry.position = start + base.starts[to]! - base.starts[from]!;
  }

  /** Records the entry at the cursor by its name, mode and object, without a reference to the base tree. */
  #addLiteral(): void {
    const entry = this.#entry;
    const { body, start, oidStart } = entry;
    const key = this.#names.keyOf(entry);
    const target = entry.isGitlink
      ? this.#names.foreign(entry.oid)
      : this.edges.add(body, oidStart, entry.isTree ? TREE : BLOB);
    const record = this.#record;
    if (this.#literal === NONE) {
      this.#literal = record.length;
      this.#copied = NONE;
      record.push(1);
    }
    record.set(this.#literal, record.at(this.#literal) + 2);
    record.push(key);
    record.push(target);
    this.#count++;
    this.#layout?.add(start, key, target);
    if (this.#open < 0) this.#open = this.#previous;
    this.#previous = start;
  }

  #closeRange(end: number): void {
    this.changed.push(this.#open);
    this.changed.push(end);
    this.#open = -1;
  }
}

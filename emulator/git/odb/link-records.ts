import type { CommitRecord } from '../object/link-reader.js';
import type { TreeNames } from '../object/tree-names.js';

/** Position in `LinkRecords` of an object that has no record. */
export const NO_RECORD = 0;
/**
 * Capacity of a page (array of records) in integers: 2^18, which is 1 MiB. Records that need more memory get another
 * page, so the existing pages are not copied.
 */
const PAGE_BITS = 18;
const PAGE = 1 << PAGE_BITS;
/** Initial capacity of the first page in integers. The page doubles when it is full. */
const FIRST_ROOM = 256;
/** Approximate memory of a `LinkRecords` object in bytes. The integers in its pages are not included. */
const OVERHEAD = 200;

/**
 * Indexes of the fields in the record of a commit: tree, author time, committer time, number of parents, and first
 * parent.
 */
const COMMIT_TREE = 0;
const COMMIT_AUTHORED = 1;
const COMMIT_COMMITTED = 2;
const COMMIT_COUNT = 3;
const COMMIT_PARENTS = 4;

/**
 * Decoded content of the commits and trees of one object table (part of a store): the objects that they refer to, times
 * and names. It is recorded when the objects are checked on receipt, so that later readers need not inflate and parse
 * them.
 *
 * Each object has at most one record, which consists of integers. Objects are identified by their numbers in the table.
 * Records are only appended. They have these forms:
 *
 * - commit: tree, author seconds, committer seconds, number of parents, and the parents
 * - tree: head, followed by runs until all entries are given. The head is the number of entries * 2, plus 1 if the
 *   record is a delta on the tree that is the base of the tree's pack delta.
 * - run with its own entries: count * 2 + 1, followed by `count` pairs of key and object
 * - run copied from the base: count * 2, followed by the index in the base of the first of `count` entries
 *
 * The key of an entry stands for its name and mode (see `TreeNames`). Records are stored in pages, and no record
 * crosses a page boundary. The position ("place") of a record is page * 2^18 + index. Objects with a number less than
 * `first` have no record.
 */
export class LinkRecords {
  readonly #pages: Int32Array[] = [];
  /** Position at which the next record will be appended. */
  length = NO_RECORD + 1;
  /**
   * Records from this position on cannot be read yet. They contain temporary indexes (of the `EdgeList`), which
   * `LinkRecorder.settle` replaces by object numbers.
   */
  settled = this.length;

  constructor(
    readonly first: number,
    readonly names: TreeNames,
  ) {}

  get heldBytes(): number {
    let integers = 0;
    for (const page of this.#pages) integers += page.length;
    return integers * 4 + OVERHEAD;
  }

  /**
   * Appends a record and returns its position. A record that is larger than a page is not stored; the result is then
   * `NO_RECORD`.
   */
  add(record: Int32Array): number {
    if (record.length > PAGE) return NO_RECORD;
    if (indexOf(this.length) + record.length > PAGE) this.length = (this.length | (PAGE - 1)) + 1;
    const place = this.length;
    const index = indexOf(place);
    this.#pageWithRoom(place >>> PAGE_BITS, index + record.length).set(record, index);
    this.length += record.length;
    return place;
  }

  /** Removes all records from position `length` on. Called when new objects are discarded. */
  truncate(length: number): void {
    this.length = length;
    this.settled = Math.min(this.settled, length);
    this.#pages.length = Math.min(this.#pages.length, (length >>> PAGE_BITS) + 1);
  }

  /**
   * Appends a copy of all readable records of `other`. Returns the offset by which these records moved: the position in
   * this object minus the position in `other`.
   */
  append(other: LinkRecords): number {
    const moved = this.#pages.length << PAGE_BITS;
    for (const page of other.#pages) this.#pages.push(page.slice());
    this.length = moved + other.settled;
    this.settled = this.length;
    return moved;
  }

  /** Shrinks the last page to the records in it, which releases unused memory. Usually no more records are appended. */
  seal(): void {
    const last = this.#pages.at(-1);
    const used = indexOf(this.length);
    if (last !== undefined && last.length > used) this.#pages[this.#pages.length - 1] = last.slice(0, used);
  }

  commitAt(place: number): CommitRecord {
    const page = this.#pages[place >>> PAGE_BITS]!;
    const at = indexOf(place);
    const parents: number[] = [];
    const end = at + COMMIT_PARENTS + page[at + COMMIT_COUNT]!;
    for (let index = at + COMMIT_PARENTS; index < end; index++) parents.push(page[index]!);
    return {
      tree: page[at + COMMIT_TREE]!,
      authoredAt: page[at + COMMIT_AUTHORED]! >>> 0,
      committedAt: page[at + COMMIT_COMMITTED]! >>> 0,
      parents,
    };
  }

  /**
   * Replaces each object reference `n` in the record of a commit by `names[n]`. The references are temporary indexes
   * before and object numbers afterwards. Returns the number of integers that were read.
   */
  renameCommit(place: number, names: Int32Array): number {
    const page = this.#pages[place >>> PAGE_BITS]!;
    const at = indexOf(place);
    page[at + COMMIT_TREE] = names[page[at + COMMIT_TREE]!]!;
    const end = at + COMMIT_PARENTS + page[at + COMMIT_COUNT]!;
    for (let index = at + COMMIT_PARENTS; index < end; index++) page[index] = names[page[index]!]!;
    return end - at;
  }

  /**
   * Returns true if the record of a tree is a delta. Such a record refers to entries of the base tree, which is the
   * base of the tree's pack delta.
   */
  needsBase(place: number): boolean {
    return (this.#headOf(place) & 1) === 1;
  }

  /**
   * Returns the number of integers that `readCells` writes for a tree. Each entry takes two: its key (name and mode)
   * and its object number.
   */
  cellCount(place: number): number {
    return (this.#headOf(place) >> 1) * 2;
  }

  /**
   * Writes all entries of a tree into `cells`. Each entry takes two integers: its key (name and mode) and its object
   * number. `base` contains the entries of the base tree in this form; it is needed only if `needsBase` returns true.
   */
  readCells(place: number, base: Int32Array | undefined, cells: Int32Array): void {
    const page = this.#pages[place >>> PAGE_BITS]!;
    const count = this.cellCount(place);
    let next = indexOf(place) + 1;
    for (let filled = 0; filled < count; ) {
      const run = page[next++]!;
      const length = run & ~1;
      if ((run & 1) === 1) {
        copyRun(page, next, cells, filled, length);
        next += length;
      } else {
        copyRun(base!, page[next++]! * 2, cells, filled, length);
      }
      filled += length;
    }
  }

  /**
   * Calls `visit` for each run of entries that the record itself contains. Entries taken from the base tree are
   * omitted. A run is the part of `cells` from `start` to `end` (exclusive), with a key and an object number for each
   * entry.
   */
  eachOwnRun(place: number, visit: (cells: Int32Array, start: number, end: number) => void): void {
    const page = this.#pages[place >>> PAGE_BITS]!;
    const total = this.cellCount(place);
    let next = indexOf(place) + 1;
    for (let filled = 0; filled < total; ) {
      const run = page[next++]!;
      const length = run & ~1;
      if ((run & 1) === 1) {
        visit(page, next, next + length);
        next += length;
      } else next++;
      filled += length;
    }
  }

  #headOf(place: number): number {
    return this.#pages[place >>> PAGE_BITS]![indexOf(place)]!;
  }

  /**
   * Returns page `number`, enlarged to a capacity of at least `room` integers. The first page grows by doubling. All
   * other pages have their full length from the start, unless `seal` shrank them.
   */
  #pageWithRoom(number: number, room: number): Int32Array {
    const page = this.#pages[number];
    if (page !== undefined && page.length >= room) return page;
    const length = number > 0 ? PAGE : Math.min(PAGE, Math.max(FIRST_ROOM, room, (page?.length ?? 0) * 2));
    const larger = new Int32Array(length);
    if (page !== undefined) larger.set(page);
    this.#pages[number] = larger;
    return larger;
  }
}

function indexOf(place: number): number {
  return place & (PAGE - 1);
}

/** Longest run, in integers, that is copied with a loop. A loop is faster than `TypedArray.set` for such short runs. */
const SHORT = 24;

function copyRun(from: Int32Array, start: number, to: Int32Array, at: number, length: number): void {
  if (length > SHORT) {
    to.set(from.subarray(start, start + length), at);
    return;
  }
  for (let index = 0; index < length; index++) to[at + index] = from[start + index]!;
}

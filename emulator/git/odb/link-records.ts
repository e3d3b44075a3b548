import type { CommitRecord } from '../object/link-reader.js';
import type { TreeNames } from '../object/tree-names.js';

/** Sentinel for the position of a record: the object has none. */
export const NO_RECORD = 0;
/** Integers per page (1 MiB). Growth allocates another page instead of copying everything. */
const PAGE_BITS = 18;
const PAGE = 1 << PAGE_BITS;
/** Initial integers of the first page, which grows. */
const FIRST_ROOM = 256;
/** Approximate memory of a `LinkRecords` in bytes, beside its integers. */
const OVERHEAD = 200;

/** Indexes of the fields in the record of a commit. */
const COMMIT_TREE = 0;
const COMMIT_AUTHORED = 1;
const COMMIT_COMMITTED = 2;
const COMMIT_COUNT = 3;
const COMMIT_PARENTS = 4;

/**
 * Links of the commits and trees in one table's packs. They are recorded when the objects are checked on receipt, so
 * that later readers need not inflate the objects. Records consist of integers and are append-only:
 *
 *     commit   tree, author seconds, committer seconds, number of parents, parents
 *     tree     entries * 2 + (1 if it is a delta on the tree that is the base of its pack delta), followed by runs
 *              until all entries are given: count * 2 + 1 and as many pairs of key and object, or count * 2 and the
 *              index of the first of `count` entries of the base
 *
 * Records are stored in pages. A record never crosses a page boundary. Its position is page * 2^18 + index. Objects
 * before `first` have no record.
 */
export class LinkRecords {
  readonly #pages: Int32Array[] = [];
  /** Position of the next record. */
  length = NO_RECORD + 1;
  /** Records from this position on contain `EdgeList` indexes instead of object numbers; see `LinkRecorder`. */
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

  /** Adds a record. Returns its position, or `NO_RECORD` if it is larger than a page. */
  add(record: Int32Array): number {
    if (record.length > PAGE) return NO_RECORD;
    if (indexOf(this.length) + record.length > PAGE) this.length = (this.length | (PAGE - 1)) + 1;
    const place = this.length;
    const index = indexOf(place);
    this.#pageWithRoom(place >>> PAGE_BITS, index + record.length).set(record, index);
    this.length += record.length;
    return place;
  }

  /** Removes all records from `length` on. */
  truncate(length: number): void {
    this.length = length;
    this.settled = Math.min(this.settled, length);
    this.#pages.length = Math.min(this.#pages.length, (length >>> PAGE_BITS) + 1);
  }

  /** Appends all settled records of `other`. Returns the offset to add to their positions. */
  append(other: LinkRecords): number {
    const moved = this.#pages.length << PAGE_BITS;
    for (const page of other.#pages) this.#pages.push(page.slice());
    this.length = moved + other.settled;
    this.settled = this.length;
    return moved;
  }

  /** Releases the unused rest of the last page. */
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
   * Replaces each object in the record of a commit by `names[object]`. Returns the number of integers in the record.
   */
  renameCommit(place: number, names: Int32Array): number {
    const page = this.#pages[place >>> PAGE_BITS]!;
    const at = indexOf(place);
    page[at + COMMIT_TREE] = names[page[at + COMMIT_TREE]!]!;
    const end = at + COMMIT_PARENTS + page[at + COMMIT_COUNT]!;
    for (let index = at + COMMIT_PARENTS; index < end; index++) page[index] = names[page[index]!]!;
    return end - at;
  }

  /** Returns true if the record of the tree is a delta on the tree that is the base of its pack delta. */
  needsBase(place: number): boolean {
    return (this.#headOf(place) & 1) === 1;
  }

  /** Returns the number of integers for the entries of a tree: one key and one object for each. */
  cellCount(place: number): number {
    return (this.#headOf(place) >> 1) * 2;
  }

  /**
   * Writes the keys and objects of all entries of a tree into `cells`. `base`: the cells of its base tree; not used
   * unless `needsBase`.
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
   * Calls `visit` with the entries that are not from the base: pairs of key and object in `cells` from `start` to
   * `end`.
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
   * Returns page `number` with capacity for `room` integers. The first page grows by doubling; the others have their
   * full length from the start. A sealed page grows again.
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

/** Runs of fewer integers are copied with a loop, because it is faster than a call. */
const SHORT = 24;

function copyRun(from: Int32Array, start: number, to: Int32Array, at: number, length: number): void {
  if (length > SHORT) {
    to.set(from.subarray(start, start + length), at);
    return;
  }
  for (let index = 0; index < length; index++) to[at + index] = from[start + index]!;
}

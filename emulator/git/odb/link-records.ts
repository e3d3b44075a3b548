import type { CommitRecord } from '../object/link-reader.js';
import type { TreeNames } from '../object/tree-names.js';

/** In place of a record's place: there is none. */
export const NO_RECORD = 0;
/** Integers of a page: 1 MiB, so that none is copied as a whole when more come. */
const PAGE_BITS = 18;
const PAGE = 1 << PAGE_BITS;
/** Integers of the first page, which grows. */
const FIRST_ROOM = 256;
/** What records take beside their integers. */
const OVERHEAD = 200;

/** Where the parts of a commit's record lie. */
const COMMIT_TREE = 0;
const COMMIT_AUTHORED = 1;
const COMMIT_COMMITTED = 2;
const COMMIT_COUNT = 3;
const COMMIT_PARENTS = 4;

/**
 * What the commits and trees of one table's packs point at, noted when they were checked, so that no one has to inflate
 * them for it. Records are integers, and are only added:
 *
 *     commit   tree, seconds of the author, seconds of the committer, parents, and so many objects
 *     tree     entries * 2 + (1 if it is told by the difference from the base of its delta), and then, until there are
 *              so many entries: count * 2 + 1 and so many keys and objects, or count * 2 and the first of so many
 *              entries of the base
 *
 * They lie in pages, each whole in one: a place is page * 2^18 + index. Objects before `first` have no record.
 */
export class LinkRecords {
  readonly #pages: Int32Array[] = [];
  /** The place of the next record. */
  length = NO_RECORD + 1;
  /** Records from here on name objects by something else than their number; see `LinkRecorder`. */
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

  /** Adds a record; returns its place, or `NO_RECORD` where it is larger than a page. */
  add(record: Int32Array): number {
    if (record.length > PAGE) return NO_RECORD;
    if (indexOf(this.length) + record.length > PAGE) this.length = (this.length | (PAGE - 1)) + 1;
    const place = this.length;
    const index = indexOf(place);
    this.#pageWithRoom(place >>> PAGE_BITS, index + record.length).set(record, index);
    this.length += record.length;
    return place;
  }

  /** Forgets everything from `length` on. */
  truncate(length: number): void {
    this.length = length;
    this.settled = Math.min(this.settled, length);
    this.#pages.length = Math.min(this.#pages.length, (length >>> PAGE_BITS) + 1);
  }

  /** Adds all records of another, which have to be settled; returns by how much their places have moved. */
  append(other: LinkRecords): number {
    const moved = this.#pages.length << PAGE_BITS;
    for (const page of other.#pages) this.#pages.push(page.slice());
    this.length = moved + other.settled;
    this.settled = this.length;
    return moved;
  }

  /** Gives back the room that is left. */
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

  /** Gives each object of a commit's record another name; returns how many there are. */
  renameCommit(place: number, names: Int32Array): number {
    const page = this.#pages[place >>> PAGE_BITS]!;
    const at = indexOf(place);
    page[at + COMMIT_TREE] = names[page[at + COMMIT_TREE]!]!;
    const end = at + COMMIT_PARENTS + page[at + COMMIT_COUNT]!;
    for (let index = at + COMMIT_PARENTS; index < end; index++) page[index] = names[page[index]!]!;
    return end - at;
  }

  /** Whether the tree is told by the difference from the base of its delta. */
  needsBase(place: number): boolean {
    return (this.#headOf(place) & 1) === 1;
  }

  /** How many keys and objects the entries of a tree are together. */
  cellCount(place: number): number {
    return (this.#headOf(place) >> 1) * 2;
  }

  /** Writes the keys and objects of all entries of a tree into `cells`; `base`: those of the tree it is told by. */
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

  /** Calls `visit` with what is not an entry of the base: keys and objects lie in `cells` from `start` to `end`. */
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

  /** Pages but the first have their whole length at once; one that was sealed grows again. */
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

/** For few integers a loop is done before a call has begun. */
const SHORT = 24;

function copyRun(from: Int32Array, start: number, to: Int32Array, at: number, length: number): void {
  if (length > SHORT) {
    to.set(from.subarray(start, start + length), at);
    return;
  }
  for (let index = 0; index < length; index++) to[at + index] = from[start + index]!;
}

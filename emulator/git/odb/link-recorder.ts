import { IntList } from '../../memory/int-list.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, type Steps } from '../../schedule/steps.js';
import { commitTimes } from '../object/commit.js';
import { BLOB, COMMIT, oidIn, TREE, type TypeCode } from '../object/object.js';
import { OID_BYTES } from '../object/oid-slots.js';
import type { EntryKey, TreeNames } from '../object/tree-names.js';
import { eachCopy } from '../pack/patch-delta.js';
import type { EdgeList } from './edge-list.js';
import { type LinkRecords, NO_RECORD } from './link-records.js';
import type { StoredObjects } from './stored-objects.js';
import type { TreeLayout } from './tree-layout.js';

/** How a tree came about: instructions of a delta from `start` to `limit`, and what they are for. */
export interface TreeChange {
  readonly base: TreeLayout;
  readonly delta: Buffer;
  readonly start: number;
  readonly limit: number;
}

/** No run. */
const NONE = -1;
const NUL = 0;
const SPACE = 0x20;
const FORMAT = 0o170000;
/** A copy of fewer bytes holds no entry worth looking for. */
const SHORTEST_RUN = 64;
/** A tree is not laid out by way of more others than this. */
const LONGEST_CHAIN = 64;
/** Times beyond this many seconds are read from the commit itself. */
const MOST_SECONDS = 0xffffffff;

/**
 * Reads each new commit and tree once, while its body is at hand, and notes its edges (`EdgeList`) and a record of it
 * (`LinkRecords`).
 *
 * Of a tree that came as a delta only the entries that are not those of its base are read: an instruction to copy says
 * that bytes are the same, so the entries that lie whole in them are. Big folders change by an entry or two, so nearly
 * nothing of them is read twice.
 *
 * While objects come in, a record names an object by its place in the `EdgeList`; `settle` turns these into numbers.
 */
export class LinkRecorder {
  /** Of the tree that came last, the runs of bytes that are not as in its base, each with its neighbours: start and end. */
  readonly changed = new IntList();
  readonly #names: TreeNames;
  /** The record that is being made. */
  readonly #record = new IntList();
  #layout: TreeLayout | undefined;
  #body: Buffer = Buffer.alloc(0);
  /** Where the body starts and ends, and the next entry to be read starts. */
  #start = 0;
  #end = 0;
  #at = 0;
  #count = 0;
  /** Where the run that is being written has its first integer; of a run of the base, the entry after its last. */
  #literal = NONE;
  #copied = NONE;
  #copiedTo = 0;
  #usesBase = false;
  /** Where the last entry starts, and where the run of `changed` that is open does, or -1. */
  #previous = 0;
  #open = -1;

  constructor(
    readonly records: LinkRecords,
    private readonly edges: EdgeList,
  ) {
    this.#names = records.names;
  }

  /**
   * Notes what an object points at; returns the place of its record, or `NO_RECORD`. What is malformed makes the edges
   * doubtful. `layout` is filled with the entries of a tree.
   */
  record(
    type: TypeCode,
    body: Buffer,
    start: number,
    end: number,
    mostTargets: number,
    change?: TreeChange,
    layout?: TreeLayout,
  ): number {
    const { edges } = this;
    if (type === BLOB || edges.isDoubtful) return NO_RECORD;
    if ((type !== TREE && type !== COMMIT) || this.#names.isFull) {
      edges.record(type, body, start, end, mostTargets);
      return NO_RECORD;
    }
    const record = this.#record;
    record.clear();
    const isRead =
      type === TREE ? this.#readTree(body, start, end, change, layout) : this.#readCommit(body, start, end);
    if (!isRead || edges.size > mostTargets) edges.isDoubtful = true;
    return edges.isDoubtful || record.length === 0 ? NO_RECORD : this.records.add(record.view());
  }

  /** Fills `layout` with the entries of a tree that has a record here; says whether it has. */
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
      const place = at < records.first ? NO_RECORD : objects.linksAt[at - objects.first]!;
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

  /** Names objects by their numbers in the records of objects from `first` on; `numbers`: by place in the `EdgeList`. */
  *settle(objects: StoredObjects, first: number, numbers: Int32Array): Steps<void> {
    const { records } = this;
    let work = 0;
    for (let number = first; number < objects.count; number++) {
      const place = objects.linksAt[number - objects.first]!;
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

  #readCommit(body: Buffer, start: number, end: number): boolean {
    const targets = this.edges.recordCommit(body, start, end);
    if (targets === undefined) return false;
    const { authoredAt, committedAt } = commitTimes(body.subarray(start, end), targets.length - 1);
    if (authoredAt > MOST_SECONDS || committedAt > MOST_SECONDS) return true;
    const record = this.#record;
    record.push(targets.at(0));
    record.push(authoredAt);
    record.push(committedAt);
    record.push(targets.length - 1);
    for (let index = 1; index < targets.length; index++) record.push(targets.at(index));
    return true;
  }

  #readTree(body: Buffer, start: number, end: number, change?: TreeChange, layout?: TreeLayout): boolean {
    this.#record.push(0);
    this.#body = body;
    this.#start = this.#at = start;
    this.#end = end;
    this.#layout = layout;
    this.#count = 0;
    this.#usesBase = false;
    this.#literal = this.#copied = NONE;
    this.#previous = start;
    this.#open = -1;
    this.changed.clear();
    if (layout !== undefined) layout.length = 0;
    if (change !== undefined && !this.#readCopies(change)) return false;
    while (this.#at < end) if (!this.#readEntry()) return false;
    if (this.#open >= 0) this.#closeRange(end);
    layout?.end(end - start);
    this.#record.set(0, this.#count * 2 + (this.#usesBase ? 1 : 0));
    return true;
  }

  #readCopies({ base, delta, start, limit }: TreeChange): boolean {
    let isRead = true;
    eachCopy(delta, start, limit, (resultAt, baseAt, count) => {
      if (count < SHORTEST_RUN || !isRead) return;
      const from = this.#start + resultAt;
      const to = from + count;
      while (this.#at < to) {
        // The bytes from here on are those of the base, so an entry of the base that starts here is one here too.
        const index = this.#at < from ? -1 : base.startingAt(baseAt + this.#at - from);
        if (index >= 0) {
          const last = base.endedBy(baseAt + count);
          if (last > index) this.#copyRun(base, index, last);
          break;
        }
        if (!this.#readEntry()) {
          isRead = false;
          break;
        }
      }
    });
    return isRead;
  }

  /** Notes that the next entries are those of the base from `from` to before `to`. */
  #copyRun(base: TreeLayout, from: number, to: number): void {
    const record = this.#record;
    const count = to - from;
    const start = this.#at - this.#start;
    const isNext = this.#copied !== NONE && from === this.#copiedTo;
    if (isNext) {
      record.set(this.#copied, record.at(this.#copied) + count * 2);
    } else {
      const firstEnd = this.#at + base.starts[from + 1]! - base.starts[from]!;
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
    this.#previous = this.#at + base.starts[to - 1]! - base.starts[from]!;
    this.#at += base.starts[to]! - base.starts[from]!;
  }

  /** Reads the next entry, `<mode in octal> SP <name> NUL <20 bytes>`, of which neither mode nor name is empty; false where it is malformed. */
  #readEntry(): boolean {
    const body = this.#body;
    const start = this.#at;
    const end = this.#end;
    let at = start;
    let mode = 0;
    if (body[at] === SPACE) return false;
    for (let byte = body[at++]!; byte !== SPACE; byte = body[at++]!) {
      if (byte < 0x30 || byte > 0x37 || at >= end) return false;
      mode = ((mode << 3) | (byte & 7)) & 0xffff;
    }
    const nameStart = at;
    if (body[at] === NUL) return false;
    while (at < end && body[at] !== NUL) at++;
    const next = at + 1 + OID_BYTES;
    if (next > end) return false;
    const format = mode & FORMAT;
    let target: number;
    if (format === 0o040000) target = this.edges.add(body, at + 1, TREE);
    else if (format === 0o100000 || format === 0o120000) target = this.edges.add(body, at + 1, BLOB);
    else target = this.#names.foreign(oidIn(body, at + 1));
    this.#addLiteral(start, this.#names.keyIn(body, start, nameStart, at), target);
    this.#at = next;
    return true;
  }

  #addLiteral(start: number, key: EntryKey, target: number): void {
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
    this.#layout?.add(start - this.#start, key, target);
    if (this.#open < 0) this.#open = this.#previous;
    this.#previous = start;
  }

  #closeRange(end: number): void {
    this.changed.push(this.#open - this.#start);
    this.changed.push(end - this.#start);
    this.#open = -1;
  }
}

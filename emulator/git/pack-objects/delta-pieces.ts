import { bufferWithRoom } from '../../memory/growable.js';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { HEADROOM } from '../object/object-hash.js';
import { UNDELTIFIED } from '../odb/object-table.js';
import type { StoredObjects } from '../odb/stored-objects.js';
import { DeltaHeader, eachCopy } from '../pack/patch-delta.js';

/** A delta of more bytes is not taken apart at once. */
const LARGEST_DELTA = 64 * 1024;
/** Deltas between an object and its root, the bytes they insert, and the pieces they come to. */
const MOST_DELTAS = 256;
const MOST_TEXT = 1024 * 1024;
export const MOST_PIECES = 8 * 1024;

/** The bytes that deltas insert, one after the other. */
export class InsertedText {
  bytes: Buffer = Buffer.allocUnsafe(1024);
  length = 0;

  add(from: Buffer, start: number, count: number): void {
    this.bytes = bufferWithRoom(this.bytes, this.length + count);
    from.copy(this.bytes, this.length, start, start + count);
    this.length += count;
  }
}

/** What an object is made of: pieces of an object it is a delta on, its root, and inserted text. */
export class DeltaPieces {
  /** Where in the object each piece ends; it begins where the one before does. */
  readonly ends: number[] = [];
  /** Where it begins in the root; below zero, the complement of where it begins in the text. */
  readonly sources: number[] = [];
  size = 0;

  get areTooMany(): boolean {
    return this.ends.length > MOST_PIECES;
  }

  /** All of the root. */
  static whole(size: number): DeltaPieces {
    const pieces = new DeltaPieces();
    if (size > 0) pieces.add(0, size);
    return pieces;
  }

  add(source: number, count: number): void {
    const last = this.ends.length - 1;
    const before = this.size;
    this.size += count;
    if (last >= 0) {
      const begun = last === 0 ? 0 : this.ends[last - 1]!;
      const went = before - begun;
      const expected = this.sources[last]! < 0 ? this.sources[last]! - went : this.sources[last]! + went;
      // Text that follows text goes on by ever smaller complements.
      if (expected === source) {
        this.ends[last] = this.size;
        return;
      }
    }
    this.ends.push(this.size);
    this.sources.push(source);
  }

  /** Adds the bytes `from` to `from + count` of an object that is made of `others`; stops when they are too many. */
  addFrom(others: DeltaPieces, from: number, count: number): void {
    const { ends, sources } = others;
    const to = from + count;
    let index = others.indexAt(from);
    for (let at = from; at < to && !this.areTooMany; index++) {
      const begin = index === 0 ? 0 : ends[index - 1]!;
      const end = Math.min(ends[index]!, to);
      const source = sources[index]!;
      this.add(source < 0 ? source - (at - begin) : source + (at - begin), end - at);
      at = end;
    }
  }

  /** The piece that has the byte `at`. */
  indexAt(at: number): number {
    let low = 0;
    let high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.ends[middle]! <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The object that both are deltas on, at whatever distance, or that one of them is; `UNDELTIFIED` if there is none. */
export function commonRoot(stored: StoredObjects, one: number, other: number): number {
  const chain = new Set<number>();
  for (let at = one; at !== UNDELTIFIED && chain.size < MOST_DELTAS; at = stored.baseOf(at)) chain.add(at);
  let at = other;
  for (let steps = 0; at !== UNDELTIFIED && !chain.has(at) && steps < MOST_DELTAS; steps++) at = stored.baseOf(at);
  return chain.has(at) ? at : UNDELTIFIED;
}

/** Takes apart the deltas that make `number` of `root`; undefined if that is too much of it. In steps. */
export function* readPieces(
  stored: StoredObjects,
  number: number,
  root: number,
  text: InsertedText,
): Steps<DeltaPieces | undefined> {
  const deltas: number[] = [];
  for (let at = number; at !== root; at = stored.baseOf(at)) {
    stored.locate(at);
    if (stored.header.size > LARGEST_DELTA) return undefined;
    deltas.push(at);
  }
  const header = new DeltaHeader();
  let pieces = DeltaPieces.whole(stored.sizeOf(root));
  for (const delta of deltas.reverse()) {
    const { output, size } = stored.inflateEntry(delta);
    header.parse(output, HEADROOM, HEADROOM + size);
    const base = pieces;
    const made = new DeltaPieces();
    eachCopy(
      output,
      header.end,
      HEADROOM + size,
      (_at, from, count) => made.addFrom(base, from, count),
      (at, count) => {
        made.add(~text.length, count);
        text.add(output, at, count);
      },
    );
    pieces = made;
    if (pieces.areTooMany || text.length > MOST_TEXT) return undefined;
    yield size * COST.byteScanned + pieces.ends.length * COST.operation;
  }
  return pieces;
}

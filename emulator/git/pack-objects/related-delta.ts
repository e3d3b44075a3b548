import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { UNDELTIFIED } from '../odb/object-table.js';
import type { StoredObjects } from '../odb/stored-objects.js';
import { DeltaWriter } from '../pack/delta-writer.js';
import { commonRoot, type DeltaPieces, InsertedText, MOST_PIECES, readPieces } from './delta-pieces.js';

/** Where the bytes of an instruction are: in the base, among what deltas insert, in the root. */
type Place = 'base' | 'text' | 'root';

interface Instruction {
  readonly place: Place;
  readonly from: number;
  count: number;
}

/**
 * A delta of `number` on `base`; undefined if no object is at the root of both, or it is not easily seen. In steps.
 *
 * Two versions of a file are mostly stored as deltas that lead to a third one, or one of them to the other. What both
 * copy from it they have in common, so that nothing has to be searched: the stored deltas are taken apart, and no body
 * is looked at but that of the root, for what only `number` copies from it.
 */
export function* relateByDeltas(stored: StoredObjects, number: number, base: number): Steps<RelatedDelta | undefined> {
  const root = commonRoot(stored, number, base);
  if (root === UNDELTIFIED) return undefined;
  const text = new InsertedText();
  const wanted = yield* readPieces(stored, number, root, text);
  const given = wanted && (yield* readPieces(stored, base, root, text));
  if (given === undefined) return undefined;
  const delta = new RelatedDelta(root, given.size, wanted!.size, text);
  yield* new Expression(delta, wanted!, given, text).steps();
  return delta.isTooLong ? undefined : delta;
}

/** A delta that was found, before it is written. */
export class RelatedDelta {
  readonly #instructions: Instruction[] = [];
  /** More instructions than are worth it: pieces of both objects may meet each with each. */
  get isTooLong(): boolean {
    return this.count > MOST_PIECES;
  }

  get count(): number {
    return this.#instructions.length;
  }

  /** Whether it takes the body of the root to write it. */
  needsRoot = false;

  constructor(
    readonly root: number,
    private readonly baseSize: number,
    private readonly size: number,
    private readonly text: InsertedText,
  ) {}

  add(place: Place, from: number, count: number): void {
    const last = this.#instructions.at(-1);
    if (last !== undefined && last.place === place && last.from + last.count === from) last.count += count;
    else this.#instructions.push({ place, from, count });
    if (place === 'root') this.needsRoot = true;
  }

  /** Undefined when it is longer than `most` bytes. */
  write(root: Buffer | undefined, most: number): Buffer | undefined {
    const writer = new DeltaWriter(most);
    writer.sizes(this.baseSize, this.size);
    for (const { place, from, count } of this.#instructions) {
      if (place === 'base') writer.copy(from, count);
      else writer.insert(place === 'text' ? this.text.bytes : root!, from, from + count);
    }
    return writer.finish();
  }
}

/** Parts of the root that an object has, in their order in the root, and where it has them. */
interface RootParts {
  readonly starts: number[];
  readonly ends: number[];
  readonly places: number[];
}

function partsOfRoot({ ends, sources }: DeltaPieces): RootParts {
  const order: number[] = [];
  for (let index = 0; index < ends.length; index++) if (sources[index]! >= 0) order.push(index);
  order.sort((a, b) => sources[a]! - sources[b]!);
  const parts: RootParts = { starts: [], ends: [], places: [] };
  // A part of the root that was copied twice is there twice; once is enough.
  let reached = 0;
  for (const index of order) {
    const begin = index === 0 ? 0 : ends[index - 1]!;
    const source = sources[index]!;
    const end = source + ends[index]! - begin;
    if (end <= reached) continue;
    const start = Math.max(source, reached);
    parts.starts.push(start);
    parts.ends.push(end);
    parts.places.push(begin + start - source);
    reached = end;
  }
  return parts;
}

/** The pieces of one object as instructions on another. */
class Expression {
  readonly #parts: RootParts;
  /** Where in the base the last copy ended; below zero, there is something between. */
  #reached = 0;

  constructor(
    private readonly delta: RelatedDelta,
    private readonly wanted: DeltaPieces,
    private readonly given: DeltaPieces,
    private readonly text: InsertedText,
  ) {
    this.#parts = partsOfRoot(given);
  }

  *steps(): Steps<void> {
    const { ends, sources } = this.wanted;
    let begin = 0;
    let reported = 0;
    for (let index = 0; index < ends.length && !this.delta.isTooLong; index++) {
      const count = ends[index]! - begin;
      const source = sources[index]!;
      if (source < 0) this.#addText(~source, count, sources[index + 1] ?? -1);
      else this.#addPart(source, count);
      begin += count;
      const done = this.delta.count;
      if (index % PIECE === PIECE - 1 || done >= reported + PIECE) {
        yield PIECE_COST + (done - reported) * COST.operation;
        reported = done;
      }
    }
  }

  /** The bytes `from` to `from + count` of the root. */
  #addPart(from: number, count: number): void {
    const { starts, ends, places } = this.#parts;
    const to = from + count;
    let next = from;
    for (let index = firstEndingBehind(ends, from); next < to; index++) {
      const start = Math.min(starts[index] ?? to, to);
      if (start > next) this.#add('root', next, start - next);
      if (start === to) return;
      next = Math.min(ends[index]!, to);
      const begun = Math.max(start, from);
      this.#add('base', places[index]! + begun - starts[index]!, next - begun);
    }
  }

  /**
   * Text from `from` on. Where both objects differ from the root in the same way, each has the text of its own: what
   * follows the last copy, and what precedes the next one, is compared. `next`: where the piece behind begins in the root.
   */
  #addText(from: number, count: number, next: number): void {
    const reached = this.#reached;
    const follows = this.#placeOf(next);
    const same = reached < 0 ? 0 : this.#sameBehind(reached, from, count);
    if (same > 0) this.#add('base', reached, same);
    const rest = count - same;
    const before = follows < 0 ? 0 : this.#sameBefore(follows, from + count, rest);
    if (rest > before) this.#add('text', from + same, rest - before);
    if (before > 0) this.#add('base', follows - before, before);
  }

  #add(place: Place, from: number, count: number): void {
    this.delta.add(place, from, count);
    this.#reached = place === 'base' ? from + count : -1;
  }

  /** Where the base has a byte of the root. */
  #placeOf(source: number): number {
    if (source < 0) return -1;
    const { starts, ends, places } = this.#parts;
    const index = firstEndingBehind(ends, source);
    return index < ends.length && starts[index]! <= source ? places[index]! + source - starts[index]! : -1;
  }

  /** How many bytes of text from `at` on, `most` at most, the base has from `place` on, as text too. */
  #sameBehind(place: number, at: number, most: number): number {
    const { bytes } = this.text;
    const { ends, sources } = this.given;
    let same = 0;
    for (let index = firstEndingBehind(ends, place); index < ends.length && same < most; index++) {
      if (sources[index]! >= 0) return same;
      const begin = index === 0 ? 0 : ends[index - 1]!;
      const stop = Math.min(most, ends[index]! - place);
      const shift = ~sources[index]! - begin + place;
      for (; same < stop; same++) if (bytes[shift + same] !== bytes[at + same]) return same;
    }
    return same;
  }

  /** The same with what ends at `end` and at `place`. */
  #sameBefore(place: number, end: number, most: number): number {
    const { bytes } = this.text;
    const { ends, sources } = this.given;
    let same = 0;
    for (let index = firstEndingBehind(ends, place - 1); index >= 0 && place > 0 && same < most; index--) {
      if (sources[index]! >= 0) return same;
      const begin = index === 0 ? 0 : ends[index - 1]!;
      const stop = Math.min(most, place - begin);
      const shift = ~sources[index]! - begin + place;
      for (; same < stop; same++) if (bytes[shift - same - 1] !== bytes[end - same - 1]) return same;
    }
    return same;
  }
}

function firstEndingBehind(ends: readonly number[], at: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

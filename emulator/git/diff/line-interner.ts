import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import { alignLines, UNMATCHED } from './aligned-lines.js';
import { DistinctLines } from './distinct-lines.js';
import { type FileLines, lineCount, splitLines } from './file-lines.js';
import { squeezeSpace } from './white-space.js';

/** A file whose lines are numbered. */
export interface Lines extends FileLines {
  /** Two lines of one interner are equal if and only if their ids are. Below 0: not numbered so far. */
  readonly ids: Int32Array;
}

/** Two versions of a file. What is equal at their ends gets no numbers before `idAt` asks for one. */
export interface LinePair {
  readonly old: Lines;
  readonly new: Lines;
  /** Lines that both start with, and further ones that both end with. */
  readonly head: number;
  readonly tail: number;
}

/** Lines that are numbered between two steps. */
const UNIT = 8192;

/** Numbers the distinct lines of any number of files. It copies each distinct line once and keeps no file. */
export class LineInterner {
  readonly #ignoreSpace: boolean;
  readonly #distinct = new DistinctLines();
  /** Room for a line with its white space squeezed. */
  #squeezed = Buffer.alloc(0);
  #occurrences: [Int32Array, Int32Array] = [new Int32Array(0), new Int32Array(0)];

  constructor(options: { readonly ignoreSpaceChange?: boolean | undefined } = {}) {
    this.#ignoreSpace = options.ignoreSpaceChange ?? false;
  }

  /** Two all-zero counters per id. The caller leaves them all-zero. */
  occurrences(): readonly [Int32Array, Int32Array] {
    const { size } = this.#distinct;
    if (this.#occurrences[0].length < size) {
      const room = Math.max(64, size * 2);
      this.#occurrences = [new Int32Array(room), new Int32Array(room)];
    }
    return this.#occurrences;
  }

  /** Splits a file into lines and numbers them, in steps. What it has in common with `like`, of this interner too, costs little. */
  *split(bytes: Buffer, like?: Lines): Steps<Lines> {
    if (!like) {
      const file = unnumbered(splitLines(bytes));
      yield* this.#numberInSteps(file, 0, lineCount(file));
      return file;
    }
    const { equals, ...lines } = alignLines(bytes, like);
    const file = unnumbered(lines);
    yield* this.#numberAligned(file, like, equals, 0, equals.length);
    return file;
  }

  /** Splits two versions of a file into lines, and numbers what lies between their equal ends, in steps. */
  *pair(before: Buffer, after: Buffer): Steps<LinePair> {
    const old = unnumbered(splitLines(before));
    const { equals, ...lines } = alignLines(after, old);
    const young = unnumbered(lines);
    const [oldCount, count] = [lineCount(old), lineCount(young)];
    const shorter = Math.min(oldCount, count);
    let head = 0;
    while (head < shorter && equals[head] === head) head++;
    let tail = 0;
    while (tail < shorter - head && equals[count - 1 - tail] === oldCount - 1 - tail) tail++;
    yield* this.#numberInSteps(old, head, oldCount - tail);
    yield* this.#numberAligned(young, old, equals, head, count - tail);
    return { old, new: young, head, tail };
  }

  /** The id of a line. It gets one now if it has none. */
  idAt(file: Lines, line: number): number {
    const id = file.ids[line]!;
    if (id >= 0) return id;
    this.#number(file, line, line + 1);
    return file.ids[line]!;
  }

  /** The id of a line; -1 if it has none and no other line has shown that it has an equal. */
  find({ bytes, starts, ids }: Lines, line: number): number {
    const id = ids[line]!;
    if (id >= 0) return id;
    const start = starts[line]!;
    const end = starts[line + 1]!;
    if (!this.#ignoreSpace) return this.#distinct.find(bytes, start, end);
    const size = squeezeSpace(bytes, start, end, this.#roomFor(end - start));
    return this.#distinct.find(this.#squeezed, 0, size);
  }

  *#numberInSteps(file: Lines, head: number, end: number): Steps<void> {
    for (let from = head; from < end; from += UNIT) {
      const to = Math.min(from + UNIT, end);
      this.#number(file, from, to);
      yield (to - from) * COST.line;
    }
  }

  /** Numbers lines of a file, those that another file has, by `equals`, as they are numbered there. */
  *#numberAligned(file: Lines, like: Lines, equals: Int32Array, head: number, end: number): Steps<void> {
    const { ids } = file;
    let cost = 0;
    for (let line = head; line < end; line++) {
      const equal = equals[line]!;
      const id = equal === UNMATCHED ? UNMATCHED : like.ids[equal]!;
      if (id >= 0) {
        ids[line] = id;
        cost += COST.byteCopied;
      } else {
        this.#number(file, line, line + 1);
        cost += COST.line;
      }
      if (cost < UNIT * COST.line) continue;
      yield cost;
      cost = 0;
    }
    yield cost;
  }

  #number({ bytes, starts, ids }: Lines, from: number, to: number): void {
    const distinct = this.#distinct;
    for (let line = from; line < to; line++) {
      const start = starts[line]!;
      const end = starts[line + 1]!;
      if (this.#ignoreSpace) {
        const size = squeezeSpace(bytes, start, end, this.#roomFor(end - start));
        ids[line] = distinct.intern(this.#squeezed, 0, size);
      } else {
        ids[line] = distinct.intern(bytes, start, end);
      }
    }
  }

  #roomFor(size: number): Buffer {
    if (this.#squeezed.length < size) this.#squeezed = Buffer.allocUnsafe(Math.max(256, size * 2));
    return this.#squeezed;
  }
}

function unnumbered(file: FileLines): Lines {
  return { ...file, ids: new Int32Array(lineCount(file)).fill(-1) };
}

import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { alignLines, RUN } from './aligned-lines.js';
import { DistinctLines } from './distinct-lines.js';
import { type FileLines, lineCount, splitLines } from './file-lines.js';
import { squeezeSpace } from './white-space.js';

/** Content of a file, split into lines, with a number (id) for each line. */
export interface Lines extends FileLines {
  /**
   * Ids of the lines; `UNNUMBERED` for a line without an id. Ids come from an interner. Two lines with ids from one
   * interner are equal if and only if their ids are equal.
   */
  readonly ids: Int32Array;
}

/**
 * Two versions of a file to compare. The equal lines at the start and end of both have no ids at first. Such a line
 * gets an id when `idAt` is called for it.
 */
export interface LinePair {
  readonly old: Lines;
  readonly new: Lines;
  /**
   * Number of equal lines at the start (`head`) and at the end (`tail`) of both versions. No line counts in both
   * numbers.
   */
  readonly head: number;
  readonly tail: number;
}

const UNNUMBERED = -1;
/** Number of lines to which ids are assigned between two yields to the event loop. */
const UNIT = 8192;

/**
 * Assigns ids to the lines of any number of files, so that equal lines have equal ids. It stores a copy of each
 * distinct line, so it does not keep whole files in memory.
 */
export class LineInterner {
  readonly #ignoreSpace: boolean;
  readonly #distinct = new DistinctLines();
  /** Buffer, reused for all lines, that holds a line with each run of white space replaced by one space. */
  #squeezed = Buffer.alloc(0);
  #occurrences: [Int32Array, Int32Array] = [new Int32Array(0), new Int32Array(0)];

  constructor(options: { readonly ignoreSpaceChange?: boolean | undefined } = {}) {
    this.#ignoreSpace = options.ignoreSpaceChange ?? false;
  }

  /**
   * Returns two arrays of counters, indexed by line id, all zero. All calls share these arrays, so the caller must
   * reset the counters to zero after use.
   */
  occurrences(): readonly [Int32Array, Int32Array] {
    const { size } = this.#distinct;
    if (this.#occurrences[0].length < size) {
      const room = Math.max(64, size * 2);
      this.#occurrences = [new Int32Array(room), new Int32Array(room)];
    }
    return this.#occurrences;
  }

  /**
   * Splits a file into lines and assigns ids to them. `like` may be a similar file that this interner has split before.
   * Lines that it also contains cost little, because their ids are copied.
   */
  *split(bytes: Buffer, like?: Lines): Steps<Lines> {
    if (!like) {
      const file = unnumbered(splitLines(bytes));
      yield* this.#numberInSteps(file, 0, lineCount(file));
      return file;
    }
    const { runs, ...lines } = alignLines(bytes, like);
    const file = unnumbered(lines);
    yield* this.#numberAligned(file, like, runs, 0, lineCount(file));
    return file;
  }

  /**
   * Splits two versions of a file into lines. Only the lines between the equal start and the equal end of the versions
   * get ids.
   */
  *pair(before: Buffer, after: Buffer): Steps<LinePair> {
    const old = unnumbered(splitLines(before));
    const { runs, ...lines } = alignLines(after, old);
    const young = unnumbered(lines);
    const [oldCount, count] = [lineCount(old), lineCount(young)];
    const shorter = Math.min(oldCount, count);
    const [first, firstOld, firstLength] = runs;
    const head = first === 0 && firstOld === 0 ? firstLength! : 0;
    const [last, lastOld, lastLength] = runs.subarray(-RUN);
    const isTail = last! + lastLength! === count && lastOld! + lastLength! === oldCount;
    const tail = isTail ? Math.min(lastLength!, shorter - head) : 0;
    yield* this.#numberInSteps(old, head, oldCount - tail);
    yield* this.#numberAligned(young, old, runs, head, count - tail);
    return { old, new: young, head, tail };
  }

  /** Returns the id of a line, and assigns one if the line has none. */
  idAt(file: Lines, line: number): number {
    const id = file.ids[line]!;
    if (id >= 0) return id;
    this.#number(file, line, line + 1);
    return file.ids[line]!;
  }

  /** Returns the id of a line without assigning one. Returns -1 if neither this line nor an equal line has an id. */
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

  /**
   * Assigns ids to the lines from `head` to `end` (exclusive) of a file that is aligned with `like`. `runs` describes
   * the runs of equal lines (see `AlignedLines`), whose ids are copied from `like`.
   */
  *#numberAligned(file: Lines, like: Lines, runs: Int32Array, head: number, end: number): Steps<void> {
    const { ids } = file;
    for (let at = 0; at < runs.length; at += RUN) {
      const [line, equal, length] = [runs[at]!, runs[at + 1]!, runs[at + 2]!];
      const [from, to] = [Math.max(line, head), Math.min(line + length, end)];
      if (from < to) ids.set(like.ids.subarray(equal + from - line, equal + to - line), from);
    }
    let cost = (end - head) * COST.byteCopied;
    for (let line = ids.indexOf(UNNUMBERED, head); line >= 0 && line < end; line = ids.indexOf(UNNUMBERED, line)) {
      const from = line;
      while (line < end && line - from < UNIT && ids[line] === UNNUMBERED) line++;
      this.#number(file, from, line);
      cost += (line - from) * COST.line;
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
  return { ...file, ids: new Int32Array(lineCount(file)).fill(UNNUMBERED) };
}

import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { ByteSink } from '../diff/byte-sink.js';
import { type FileLines, lineCount } from '../diff/file-lines.js';
import { LineInterner, type Lines } from '../diff/line-interner.js';
import type { TextHunk } from './file-patch.js';
import { brokenLines, isLooselyEqual } from './loose-match.js';
import { PatchError } from './patch-error.js';

/** Number of line positions that may still be tried. All hunks of a patch share this number. */
export interface SearchBudget {
  left: number;
}

/**
 * Replacement that a hunk has made: lines `start` to `end` (exclusive) of the old file became `text`, which has `count`
 * lines.
 */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: Buffer;
  readonly count: number;
}

/**
 * Run of lines that no hunk has replaced: lines `start` to `end` (exclusive) of the old file. In the current state of
 * the file, the run begins at line `at`.
 */
interface UntouchedLines {
  readonly start: number;
  readonly end: number;
  readonly at: number;
  /** Number of replacements before these lines. */
  readonly index: number;
}

/** Lines `start` to `end` (exclusive) of the old file that equal the old lines of a hunk. */
interface HunkMatch {
  readonly start: number;
  readonly end: number;
  /** Number of replacements before these lines. */
  readonly index: number;
}

const FACTOR = 0x01000193;
/**
 * `UNIT`: number of positions or hunks processed between two yields to the event loop. `LONG_UNIT`: number of lines
 * hashed between two yields.
 */
const UNIT = 4096;
const LONG_UNIT = 1 << 20;

/**
 * Content of a file while hunks are applied to it. Lines written by one hunk never match another hunk, not even the
 * unchanged lines of the first.
 */
export class Image {
  /** Replacements made so far, ordered by `start`. */
  readonly #done: Replacement[] = [];
  /** Number of lines in the current state of the file. */
  #count: number;
  /** Lines between the replacements. Undefined after a hunk was applied; they are then computed again when needed. */
  #untouched: UntouchedLines[] | undefined;
  /**
   * Rolling hashes of the old file: item `n` is the hash of its first `n` lines. They give the hash of any range of
   * lines, so most positions that do not match are rejected cheaply.
   */
  #hashes: Int32Array | undefined;

  /** Creates an image of a file and splits it into lines. */
  static *of(bytes: Buffer, budget: SearchBudget): Steps<Image> {
    const interner = new LineInterner();
    return new Image(interner, yield* interner.split(bytes), budget);
  }

  private constructor(
    private readonly interner: LineInterner,
    private readonly old: Lines,
    private readonly budget: SearchBudget,
  ) {
    this.#count = old.ids.length;
  }

  /**
   * Applies a hunk at a position where all its old lines match. Returns false if there is no such position.
   *
   * The stated line is tried first, then the nearest positions. Of two equally near positions, the lower one in the
   * file is used. A hunk that ends without unchanged lines must match at the end of the file. A hunk that states line 1
   * must match at the start of the file.
   */
  *apply(hunk: TextHunk): Steps<boolean> {
    const { oldText, oldBreaks, newText, newLines, trailing } = hunk;
    const isPlain = oldBreaks.length === 0 || (trailing === 0 && isEndOnly(oldText, oldBreaks));
    const found = isPlain ? yield* this.#find(hunk) : yield* this.#findLoosely(hunk);
    if (!found) return false;
    const { start, end, index } = found;
    this.#spend(this.#done.length - index);
    this.#done.splice(index, 0, { start, end, text: newText, count: newLines });
    this.#count += newLines - (end - start);
    this.#untouched = undefined;
    return true;
  }

  /** Returns the content of the file with all applied hunks. */
  *result(): Steps<Buffer> {
    const { bytes, starts, ids } = this.old;
    const sink = new ByteSink(bytes.length + 1024);
    let at = 0;
    for (const [index, { start, end, text }] of this.#done.entries()) {
      if (index % UNIT === 0) yield UNIT * COST.line;
      sink.slice(bytes, starts[at]!, starts[start]!);
      sink.slice(text);
      at = end;
    }
    sink.slice(bytes, starts[at]!, starts[ids.length]!);
    return sink.finish();
  }

  *#find(hunk: TextHunk): Steps<HunkMatch | undefined> {
    const wanted = (yield* this.interner.split(hunk.oldText)).ids;
    const hash = this.#hashOf(wanted);
    if (wanted.length > 1) yield* this.#hashOld();
    return yield* this.#search(hunk, wanted.length, (place) => this.#matchAt(place, wanted, hash));
  }

  *#findLoosely(hunk: TextHunk): Steps<HunkMatch | undefined> {
    const wanted = brokenLines(hunk.oldText, hunk.oldBreaks);
    return yield* this.#search(hunk, lineCount(wanted), (place) => this.#matchLooselyAt(place, wanted, hunk));
  }

  *#search(
    hunk: TextHunk,
    count: number,
    matchAt: (place: number) => HunkMatch | undefined,
  ): Steps<HunkMatch | undefined> {
    const last = this.#count - count;
    const mustStart = hunk.oldStart <= 1;
    const mustEnd = hunk.trailing === 0;
    if (last < 0 || (mustStart && mustEnd && last !== 0)) return undefined;
    if (mustStart || mustEnd) return matchAt(mustStart ? 0 : last);
    const place = Math.min(hunk.above, this.#count);
    let pause = this.budget.left - UNIT;
    for (let distance = 0; distance <= Math.max(place, last - place); distance++) {
      if (this.budget.left <= pause) {
        yield UNIT * COST.line;
        pause = this.budget.left - UNIT;
      }
      this.#spend(1);
      const found = matchAt(place + distance) ?? (distance > 0 ? matchAt(place - distance) : undefined);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * Compares the current lines from line `place` on with `wanted`. Returns their position in the old file if they are
   * equal and no hunk has replaced any of them; otherwise undefined.
   */
  #matchAt(place: number, wanted: Int32Array, hash: number): HunkMatch | undefined {
    const found = this.#untouchedAt(place, wanted.length);
    if (!found || (wanted.length > 1 && this.#hashBetween(found.start, found.end) !== hash)) return undefined;
    const { ids } = this.old;
    for (let at = 0; at < wanted.length; at++) if (ids[found.start + at] !== wanted[at]) return undefined;
    return found;
  }

  #matchLooselyAt(place: number, wanted: FileLines, { trailing }: TextHunk): HunkMatch | undefined {
    const found = this.#untouchedAt(place, lineCount(wanted));
    if (!found) return undefined;
    const compared = isLooselyEqual(this.old, found.start, wanted, trailing === 0);
    this.#spend(compared.cost);
    return compared.isEqual ? found : undefined;
  }

  /**
   * Returns the position in the old file of the `count` lines that now start at line `place`. Returns undefined if a
   * hunk has replaced any of them.
   */
  #untouchedAt(place: number, count: number): HunkMatch | undefined {
    if (place < 0 || place + count > this.#count) return undefined;
    const lines = this.#untouchedFrom(place);
    const start = lines.start + place - lines.at;
    const end = start + count;
    return start < lines.start || end > lines.end ? undefined : { start, end, index: lines.index };
  }

  /**
   * Returns the last run of untouched lines that starts at or before line `place`. The last run of the file is tried
   * first, because hunks are usually in ascending order.
   */
  #untouchedFrom(place: number): UntouchedLines {
    const end = this.old.ids.length;
    const start = this.#done.at(-1)?.end ?? 0;
    const at = this.#count - (end - start);
    if (place >= at) return { start, end, at, index: this.#done.length };
    this.#untouched ??= this.#listUntouched();
    let low = 0;
    let high = this.#untouched.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#untouched[middle]!.at <= place) low = middle;
      else high = middle - 1;
    }
    return this.#untouched[low]!;
  }

  #listUntouched(): UntouchedLines[] {
    this.#spend(this.#done.length);
    const untouched: UntouchedLines[] = [];
    let start = 0;
    let at = 0;
    for (const [index, { start: end, end: next, count }] of this.#done.entries()) {
      untouched.push({ start, end, at, index });
      at += end - start + count;
      start = next;
    }
    untouched.push({ start, end: this.old.ids.length, at, index: this.#done.length });
    return untouched;
  }

  #hashOf(ids: Int32Array): number {
    let hash = 0;
    for (const id of ids) hash = (Math.imul(hash, FACTOR) + id + 1) | 0;
    return hash;
  }

  *#hashOld(): Steps<void> {
    if (this.#hashes) return;
    const { ids } = this.old;
    const hashes = new Int32Array(ids.length + 1);
    for (let at = 0; at < ids.length; at++) {
      if (at % LONG_UNIT === LONG_UNIT - 1) yield LONG_UNIT * COST.byteScanned;
      hashes[at + 1] = Math.imul(hashes[at]!, FACTOR) + ids[at]! + 1;
    }
    this.#hashes = hashes;
  }

  #hashBetween(start: number, end: number): number {
    const hashes = this.#hashes!;
    return (hashes[end]! - Math.imul(hashes[start]!, power(end - start))) | 0;
  }

  #spend(steps: number): void {
    this.budget.left -= steps;
    if (this.budget.left < 0) throw new PatchError('mismatch', 'the places of the hunks take too long to find');
  }
}

/** Returns true if only the last line of the text lacks a line feed, and that line is not empty. */
function isEndOnly(text: Buffer, breaks: readonly number[]): boolean {
  return breaks.length === 1 && breaks[0] === text.length && text.length > 0 && text.at(-1) !== 0x0a;
}

/** Returns `FACTOR` (base of the rolling hash) to the power of `exponent`, modulo 2^32. */
function power(exponent: number): number {
  let result = 1;
  let base = FACTOR;
  for (let rest = exponent; rest > 0; rest >>>= 1) {
    if (rest & 1) result = Math.imul(result, base);
    base = Math.imul(base, base);
  }
  return result;
}

import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { type Change, collectChanges } from '../diff/change.js';
import { compactChanges } from '../diff/compaction.js';
import { selectCandidates } from '../diff/discard.js';
import type { LineInterner } from '../diff/line-interner.js';
import { markDifferences } from '../diff/myers.js';

/**
 * Maximum number of times that an anchor may occur in the compared region of the old file. An anchor is a line at which
 * both files are aligned.
 */
const MAX_OCCURRENCES = 64;
/**
 * Maximum number of search steps per line of the two files. Beyond it, the remaining lines are compared with Myers'
 * algorithm, whose cost is bounded. Only artificial files reach this limit.
 */
const STEPS_PER_LINE = 500;
/** Number of search steps between two yields to the event loop. They take at most a millisecond of CPU time. */
const UNIT = 1 << 15;

interface Region {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/**
 * Computes the changed lines between two files with the histogram diff that Git's merges use (`xdiff/xhistogram.c`).
 * `oldLines` and `newLines` are the lines as ids from `interner`; equal lines have equal ids.
 *
 * The files are split at the longest run of equal lines that contains the rarest line. The parts before and after this
 * run are then treated in this way. If all common lines are frequent, Myers' algorithm is used instead.
 */
export function* diffByHistogram(interner: LineInterner, oldLines: Int32Array, newLines: Int32Array): Steps<Change[]> {
  const oldFlags = new Uint8Array(oldLines.length + 1);
  const newFlags = new Uint8Array(newLines.length + 1);
  const anchors = new AnchorSearch(oldLines, newLines);
  const regions: Region[] = [{ oldStart: 0, oldEnd: oldLines.length, newStart: 0, newEnd: newLines.length }];
  for (let region = regions.pop(); region !== undefined; region = regions.pop()) {
    const { oldStart, oldEnd, newStart, newEnd } = region;
    if (oldStart === oldEnd || newStart === newEnd) {
      oldFlags.fill(1, oldStart, oldEnd);
      newFlags.fill(1, newStart, newEnd);
      continue;
    }
    const anchor = yield* anchors.find(region);
    if (anchor === 'none') {
      oldFlags.fill(1, oldStart, oldEnd);
      newFlags.fill(1, newStart, newEnd);
    } else if (anchor === 'too-frequent') {
      yield* markClassically(interner, oldLines, newLines, region, oldFlags, newFlags);
    } else {
      regions.push({ oldStart: anchor.oldEnd, oldEnd, newStart: anchor.newEnd, newEnd });
      regions.push({ oldStart, oldEnd: anchor.oldStart, newStart, newEnd: anchor.newStart });
    }
  }
  const before = { ids: oldLines, flags: oldFlags };
  const after = { ids: newLines, flags: newFlags };
  yield* compactChanges(before, after);
  yield* compactChanges(after, before);
  return collectChanges(oldFlags, newFlags);
}

class AnchorSearch {
  /**
   * Arrays by line id for the searched region of the old file. `#counts` has the number of occurrences of the line; it
   * is 0 between two searches. `#first` has the line number of its first occurrence.
   */
  readonly #counts: Int32Array;
  readonly #first: Int32Array;
  /** Number of the next equal line in the searched region of the old file, for each line number; -1 if none. */
  readonly #next: Int32Array;
  #stepsLeft: number;
  /** Value of `#stepsLeft` below which the search next yields to the event loop. */
  #pause: number;

  constructor(
    private readonly oldLines: Int32Array,
    private readonly newLines: Int32Array,
  ) {
    let ids = 0;
    for (const id of oldLines) if (id >= ids) ids = id + 1;
    for (const id of newLines) if (id >= ids) ids = id + 1;
    this.#counts = new Int32Array(ids);
    this.#first = new Int32Array(ids);
    this.#next = new Int32Array(oldLines.length);
    this.#stepsLeft = (oldLines.length + newLines.length) * STEPS_PER_LINE;
    this.#pause = this.#stepsLeft - UNIT;
  }

  *find(region: Region): Steps<Region | 'none' | 'too-frequent'> {
    const { oldLines } = this;
    this.#stepsLeft -= region.oldEnd - region.oldStart + region.newEnd - region.newStart;
    if (this.#stepsLeft < 0) return 'too-frequent';
    for (let at = region.oldEnd - 1; at >= region.oldStart; at--) {
      if (at % UNIT === 0) yield UNIT * COST.operation;
      const id = oldLines[at]!;
      this.#next[at] = this.#counts[id]!++ === 0 ? -1 : this.#first[id]!;
      this.#first[id] = at;
    }
    const found = yield* this.#search(region);
    for (let at = region.oldStart; at < region.oldEnd; at++) {
      if (at % UNIT === 0) yield UNIT * COST.operation;
      this.#counts[oldLines[at]!] = 0;
    }
    return found;
  }

  *#search({ oldStart, oldEnd, newStart, newEnd }: Region): Steps<Region | 'none' | 'too-frequent'> {
    const { oldLines, newLines } = this;
    const counts = this.#counts;
    let best: Region | undefined;
    let rarest = MAX_OCCURRENCES + 1;
    let hasCommon = false;
    for (let at = newStart; at < newEnd; ) {
      let next = at + 1;
      if (this.#stepsLeft < this.#pause) {
        this.#pause = this.#stepsLeft - UNIT;
        yield UNIT * COST.operation;
      }
      const count = counts[newLines[at]!]!;
      if (count > 0) hasCommon = true;
      let place = count === 0 || count > rarest ? -1 : this.#first[newLines[at]!]!;
      while (place >= 0) {
        let oldFrom = place;
        let oldTo = place;
        let newFrom = at;
        let newTo = at;
        let rarity = count;
        while (oldFrom > oldStart && newFrom > newStart && oldLines[oldFrom - 1] === newLines[newFrom - 1]) {
          oldFrom--;
          newFrom--;
          if (rarity > 1) rarity = Math.min(rarity, counts[oldLines[oldFrom]!]!);
        }
        while (oldTo < oldEnd - 1 && newTo < newEnd - 1 && oldLines[oldTo + 1] === newLines[newTo + 1]) {
          oldTo++;
          newTo++;
          if (rarity > 1) rarity = Math.min(rarity, counts[oldLines[oldTo]!]!);
        }
        next = Math.max(next, newTo + 1);
        this.#stepsLeft -= oldTo - oldFrom + 1;
        // As in Git, a run of one line has the length 0. The initial best length is also 0. A first run of one line is
        // therefore accepted only for its rarity.
        const bestLength = best === undefined ? 0 : best.oldEnd - 1 - best.oldStart;
        if (bestLength < oldTo - oldFrom || rarity < rarest) {
          best = { oldStart: oldFrom, oldEnd: oldTo + 1, newStart: newFrom, newEnd: newTo + 1 };
          rarest = rarity;
        }
        place = this.#next[place]!;
        while (place >= 0 && place <= oldTo) place = this.#next[place]!;
      }
      at = next;
    }
    if (hasCommon && rarest > MAX_OCCURRENCES) return 'too-frequent';
    return best ?? 'none';
  }
}

/**
 * Compares a region of both files with the algorithm of `git diff` (Myers), as if the regions were whole files. Sets
 * the flags of the changed lines to 1.
 */
function* markClassically(
  interner: LineInterner,
  oldLines: Int32Array,
  newLines: Int32Array,
  { oldStart, oldEnd, newStart, newEnd }: Region,
  oldFlags: Uint8Array,
  newFlags: Uint8Array,
): Steps<void> {
  const oldIds = oldLines.subarray(oldStart, oldEnd);
  const newIds = newLines.subarray(newStart, newEnd);
  const shorter = Math.min(oldIds.length, newIds.length);
  let head = 0;
  while (head < shorter && oldIds[head] === newIds[head]) head++;
  let tail = 0;
  while (tail < shorter - head && oldIds[oldIds.length - 1 - tail] === newIds[newIds.length - 1 - tail]) tail++;
  const [oldSide, newSide] = selectCandidates(
    interner,
    { ids: oldIds, head, end: oldIds.length - tail, flags: oldFlags.subarray(oldStart, oldEnd) },
    { ids: newIds, head, end: newIds.length - tail, flags: newFlags.subarray(newStart, newEnd) },
  );
  yield* markDifferences(oldSide, newSide);
}

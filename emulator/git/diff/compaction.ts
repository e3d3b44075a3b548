import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { compareSplits, scoreSplit } from './indent-heuristic.js';
import type { Lines } from './line-interner.js';

const CHANGED = 1;

/** One file of a finished search: its line ids and which of them are changed, 1, or not (plus a zero beyond the end). */
export interface Marked {
  readonly ids: Int32Array;
  readonly flags: Uint8Array;
  /** The lines themselves, when indentation may decide; without them a change slides as far down as it can. */
  readonly text?: Lines | undefined;
  /** Gives a line an id that has none so far, which is below 0. */
  readonly number?: ((line: number) => number) | undefined;
}

/** No position further up than this is tried; looking at all of them would be quadratic. */
const MAX_SLIDING = 100;

/** Lines between two steps. */
const UNIT = 4096;

/** A run of changed lines, from `start` to `end`; empty between two unchanged ones. */
class Group {
  start = 0;
  end = 0;

  constructor(private readonly file: Marked) {
    while (file.flags[this.end] !== 0) this.end++;
  }

  get isEmpty(): boolean {
    return this.start === this.end;
  }

  /** The next run behind so many unchanged lines; between two of these lies an empty one. */
  next(unchanged = 1): void {
    const { flags } = this.file;
    for (let left = unchanged; left > 0; ) {
      const from = this.end + 1;
      const ahead = flags.subarray(from, from + left).indexOf(CHANGED);
      const passed = ahead < 0 ? left : ahead + 1;
      this.start = this.end + passed;
      this.end = this.start;
      while (flags[this.end] !== 0) this.end++;
      left -= passed;
    }
  }

  /** Unchanged lines up to the next run that is not empty; 0 if there is none. */
  untilChange(): number {
    const next = this.file.flags.indexOf(CHANGED, this.end + 1);
    return next < 0 ? 0 : next - this.end;
  }

  previous(): boolean {
    const { flags } = this.file;
    if (this.start === 0) return false;
    this.end = this.start - 1;
    this.start = this.end;
    while (this.start > 0 && flags[this.start - 1] !== 0) this.start--;
    return true;
  }

  /** One line down, if the line it leaves equals the one it takes; swallows the group it then touches. */
  slideDown(): boolean {
    const { ids, flags } = this.file;
    if (this.end >= ids.length || this.#idAt(this.start) !== this.#idAt(this.end)) return false;
    flags[this.start++] = 0;
    flags[this.end++] = 1;
    while (flags[this.end] !== 0) this.end++;
    return true;
  }

  slideUp(): boolean {
    const { flags } = this.file;
    if (this.start === 0 || this.#idAt(this.start - 1) !== this.#idAt(this.end - 1)) return false;
    flags[--this.start] = 1;
    flags[--this.end] = 0;
    while (this.start > 0 && flags[this.start - 1] !== 0) this.start--;
    return true;
  }

  #idAt(line: number): number {
    const id = this.file.ids[line]!;
    return id >= 0 ? id : this.file.number!(line);
  }
}

/**
 * Puts each run of changed lines of `file` where readers expect it. A run may move up or down while the
 * line it gives up equals the one it gains. Runs that meet become one; one that can stand opposite a change
 * of the `other` file does; else the indentation around it decides, or it goes down as far as possible.
 * Works in steps.
 */
export function* compactChanges(file: Marked, other: Marked): Steps<void> {
  const group = new Group(file);
  const opposite = new Group(other);
  let lines = 0;
  for (;;) {
    if (!group.isEmpty) compactGroup(file, group, opposite);
    const unchanged = group.untilChange();
    if (unchanged === 0) return;
    group.next(unchanged);
    opposite.next(unchanged);
    lines += unchanged;
    if (lines < UNIT) continue;
    yield lines * COST.line;
    lines = 0;
  }
}

function compactGroup(file: Marked, group: Group, opposite: Group): void {
  let size: number;
  let highestEnd: number;
  let matchingEnd: number;
  do {
    size = group.end - group.start;
    matchingEnd = -1;
    while (group.slideUp()) opposite.previous();
    highestEnd = group.end;
    if (!opposite.isEmpty) matchingEnd = group.end;
    while (group.slideDown()) {
      opposite.next();
      if (!opposite.isEmpty) matchingEnd = group.end;
    }
  } while (size !== group.end - group.start);

  if (group.end === highestEnd) return;
  if (matchingEnd >= 0) {
    while (opposite.isEmpty) {
      group.slideUp();
      opposite.previous();
    }
  } else if (file.text) {
    const best = bestEnd(file.text, file.ids.length, size, highestEnd, group.end);
    while (group.end > best) {
      group.slideUp();
      opposite.previous();
    }
  }
}

function bestEnd(text: Lines, count: number, size: number, highestEnd: number, lowestEnd: number): number {
  let best = -1;
  let bestScore = { indent: 0, penalty: 0 };
  for (let end = Math.max(highestEnd, lowestEnd - size - 1, lowestEnd - MAX_SLIDING); end <= lowestEnd; end++) {
    const below = scoreSplit(text, count, end);
    const above = scoreSplit(text, count, end - size);
    const score = { indent: below.indent + above.indent, penalty: below.penalty + above.penalty };
    if (best < 0 || compareSplits(score, bestScore) <= 0) {
      best = end;
      bestScore = score;
    }
  }
  return best;
}

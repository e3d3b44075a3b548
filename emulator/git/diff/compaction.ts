import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { compareSplits, scoreSplit } from './indent-heuristic.js';
import type { Lines } from './line-interner.js';

const CHANGED = 1;

/**
 * File of a finished comparison: its line ids, and a flag per line, 1 if changed, else 0. One additional 0 follows the
 * last flag.
 */
export interface Marked {
  readonly ids: Int32Array;
  readonly flags: Uint8Array;
  /** Text of the lines, if indentation may decide. If undefined, a change slides down as far as possible. */
  readonly text?: Lines | undefined;
  /** Assigns an id to a line that has none yet (its id is below 0). */
  readonly number?: ((line: number) => number) | undefined;
}

/** Maximum number of positions tried upwards, because trying all of them would take quadratic time. */
const MAX_SLIDING = 100;

/** Number of lines processed between two yields. */
const UNIT = 4096;

/** Run of changed lines, from `start` to `end` (exclusive). An empty group stands between two unchanged lines. */
class Group {
  start = 0;
  end = 0;

  constructor(private readonly file: Marked) {
    while (file.flags[this.end] !== 0) this.end++;
  }

  get isEmpty(): boolean {
    return this.start === this.end;
  }

  /** Moves to the group after the given number of unchanged lines. It is empty if the next line is unchanged too. */
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

  /** Returns the number of unchanged lines before the next group that is not empty; 0 if none. */
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

  /**
   * Moves the group one line down, if its first line equals the line after it. Merges it with a group that it then
   * touches. Returns false if it cannot move.
   */
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
 * Moves each run of changed lines of `file` to the position that readers expect (Git's `xdl_change_compact`). A run can
 * move up or down while the line it leaves equals the line it gains. Runs that touch are merged. A run aligns with a
 * change of the `other` file if it can. Otherwise the indentation around it decides, or it moves down as far as
 * possible.
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

import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { compareSplits, scoreSplit } from './indent-heuristic.js';
import type { Lines } from './line-interner.js';

const CHANGED = 1;

/**
 * File whose lines have been compared with those of another file. `ids` has one id per line; equal lines have equal
 * ids. `flags` has one flag per line, 1 if the line is changed, and one more 0 at the end.
 */
export interface Marked {
  readonly ids: Int32Array;
  readonly flags: Uint8Array;
  /**
   * Text of the lines. Their indentation shows the best position of a change. If undefined, a change is moved down as
   * far as possible.
   */
  readonly text?: Lines | undefined;
  /**
   * Assigns an id to a line and returns it. Called for lines without an id, whose item in `ids` is negative. May be
   * absent if all lines have ids.
   */
  readonly number?: ((line: number) => number) | undefined;
}

/**
 * Maximum number of positions that are tried for a change, counted upwards from the lowest possible one. Trying all
 * positions would take quadratic time.
 */
const MAX_SLIDING = 100;

/** Number of lines processed between two yields to the event loop. */
const UNIT = 4096;

/**
 * Cursor over the runs of changed lines of one file: lines `start` to `end` (exclusive). An empty group lies between
 * two consecutive unchanged lines, so that the groups of both files correspond.
 */
class Group {
  start = 0;
  end = 0;

  constructor(private readonly file: Marked) {
    while (file.flags[this.end] !== 0) this.end++;
  }

  get isEmpty(): boolean {
    return this.start === this.end;
  }

  /**
   * Moves the cursor down past `unchanged` unchanged lines, to the group after them. The group is empty if no changed
   * line is there.
   */
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

  /**
   * Returns the number of unchanged lines between this group and the next group that is not empty. Returns 0 if all
   * later groups are empty.
   */
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
   * Moves the group down by one line, if its first line equals the line after it. The diff stays equivalent. A group
   * that then touches the next one is merged with it. Returns false if the group cannot be moved.
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
 * move by a line if the line that becomes unchanged equals the line that becomes changed. Runs that touch are merged.
 *
 * A run moves next to a change in the `other` file if possible. Otherwise, the indentation around the run decides.
 * Without the text of the lines, the run moves down as far as possible.
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

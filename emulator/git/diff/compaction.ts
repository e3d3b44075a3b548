import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import { compareSplits, scoreSplit } from './indent-heuristic.js';
import type { Lines } from './line-interner.js';

/** One file of a finished search: its line ids and which of them are changed (plus a zero beyond the end). */
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

/** Runs between two steps. */
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

  next(): boolean {
    const { flags } = this.file;
    if (this.end === flags.length - 1) return false;
    this.start = this.end + 1;
    this.end = this.start;
    while (flags[this.end] !== 0) this.end++;
    return true;
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
  for (let groups = 1; ; groups++) {
    if (groups % UNIT === 0) yield UNIT * COST.line;
    if (!group.isEmpty) compactGroup(file, group, opposite);
    if (!group.next()) return;
    opposite.next();
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

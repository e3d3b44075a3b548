import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { roughSquareRoot, type Side } from './discard.js';

/**
 * Number of consecutive equal lines (a "snake") that indicates a good path through the edit graph. Shorter runs do not
 * count.
 */
const SNAKE = 20;
/**
 * Number of edits (added or removed lines) after which the search accepts a good path, even if it may not be the
 * shortest.
 */
const PATIENCE = 256;
/** Minimum progress per edit that makes a path good, in lines of both files. */
const GOOD_RATIO = 4;
const FAR = 0x7fff_ffff;
/**
 * Number of points of the edit graph visited between two yields to the event loop. They take a few milliseconds of CPU
 * time.
 */
const UNIT = 1 << 18;

/**
 * Point (`a`, `b`) that splits a box (rectangular part of the edit graph) into two boxes. Each flag states if the
 * result of one of these boxes must be the shortest possible.
 */
interface Split {
  readonly a: number;
  readonly b: number;
  readonly isLowMinimal: boolean;
  readonly isHighMinimal: boolean;
}

/**
 * Sets the flags of the changed lines of two files to 1. The unflagged lines are a longest, or nearly longest, common
 * subsequence of both files.
 *
 * Algorithm: E. W. Myers, "An O(ND) difference algorithm and its variations" (1986), linear space, with Git's limits on
 * the search (`xdiff/xdiffi.c`). Because of these limits, the search takes at most about `lines * sqrt(lines)` steps,
 * however different the files are.
 */
export function* markDifferences(a: Side, b: Side): Steps<void> {
  if (a.ids.length === 0 && b.ids.length === 0) return;
  const diagonals = a.ids.length + b.ids.length + 3;
  const search = new Search(a.ids, b.ids, Math.max(PATIENCE, roughSquareRoot(diagonals)), diagonals);
  const boxes: number[] = [0, a.ids.length, 0, b.ids.length, 0];
  while (boxes.length > 0) {
    const isMinimal = boxes.pop() !== 0;
    let bEnd = boxes.pop()!;
    let bStart = boxes.pop()!;
    let aEnd = boxes.pop()!;
    let aStart = boxes.pop()!;
    while (aStart < aEnd && bStart < bEnd && a.ids[aStart] === b.ids[bStart]) {
      aStart++;
      bStart++;
    }
    while (aStart < aEnd && bStart < bEnd && a.ids[aEnd - 1] === b.ids[bEnd - 1]) {
      aEnd--;
      bEnd--;
    }
    if (aStart === aEnd) {
      for (; bStart < bEnd; bStart++) b.flags[b.lines[bStart]!] = 1;
    } else if (bStart === bEnd) {
      for (; aStart < aEnd; aStart++) a.flags[a.lines[aStart]!] = 1;
    } else {
      const split = search.split({ aStart, aEnd, bStart, bEnd }, isMinimal);
      if (search.work > UNIT) {
        yield search.work * COST.operation;
        search.work = 0;
      }
      boxes.push(aStart, split.a, bStart, split.b, Number(split.isLowMinimal));
      boxes.push(split.a, aEnd, split.b, bEnd, Number(split.isHighMinimal));
    }
  }
}

interface Box {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/**
 * Diagonals of the edit graph that the search from one corner of a box has reached: every second diagonal from `first`
 * to `last`.
 */
interface Front {
  readonly first: number;
  readonly last: number;
}

/**
 * Finds the point at which a box of the edit graph is split. It searches from two opposite corners of the box. Diagonal
 * `d` of the graph contains the points (a, b) with a - b = d.
 */
class Search {
  /**
   * Progress of the search on each diagonal. `#low` has the greatest `a` reached from the low corner, `#high` the
   * smallest `a` reached from the high corner.
   */
  readonly #low: Int32Array;
  readonly #high: Int32Array;
  /** Index of diagonal 0 in `#low` and `#high`. It is not 0, because diagonals can have negative numbers. */
  readonly #zero: number;
  /** Approximate number of points of the edit graph visited since the last yield to the event loop. */
  work = 0;

  constructor(
    private readonly a: Int32Array,
    private readonly b: Int32Array,
    private readonly maxEdits: number,
    diagonals: number,
  ) {
    this.#low = new Int32Array(diagonals + 2);
    this.#high = new Int32Array(diagonals + 2);
    this.#zero = b.length + 1;
  }

  split(box: Box, isMinimal: boolean): Split {
    const { a, b } = this;
    const { aStart, aEnd, bStart, bEnd } = box;
    const low = this.#low;
    const high = this.#high;
    const zero = this.#zero;
    const first = aStart - bEnd;
    const last = aEnd - bStart;
    let lowFirst = aStart - bStart;
    let lowLast = lowFirst;
    let highFirst = aEnd - bEnd;
    let highLast = highFirst;
    const isOdd = ((lowFirst - highFirst) & 1) !== 0;
    low[zero + lowFirst] = aStart;
    high[zero + highFirst] = aEnd;
    for (let edits = 1; ; edits++) {
      let hasSnake = false;
      this.work += 2 * edits;

      if (lowFirst > first) low[zero + --lowFirst - 1] = -1;
      else lowFirst++;
      if (lowLast < last) low[zero + ++lowLast + 1] = -1;
      else lowLast--;
      for (let d = lowLast; d >= lowFirst; d -= 2) {
        const below = low[zero + d - 1]!;
        const above = low[zero + d + 1]!;
        const from = below >= above ? below + 1 : above;
        let x = from;
        while (x < aEnd && x - d < bEnd && a[x] === b[x - d]) x++;
        if (x - from > SNAKE) hasSnake = true;
        low[zero + d] = x;
        if (isOdd && highFirst <= d && d <= highLast && high[zero + d]! <= x) return middleAt(x, x - d);
      }

      if (highFirst > first) high[zero + --highFirst - 1] = FAR;
      else highFirst++;
      if (highLast < last) high[zero + ++highLast + 1] = FAR;
      else highLast--;
      for (let d = highLast; d >= highFirst; d -= 2) {
        const below = high[zero + d - 1]!;
        const above = high[zero + d + 1]!;
        const from = below < above ? below : above - 1;
        let x = from;
        while (x > aStart && x - d > bStart && a[x - 1] === b[x - d - 1]) x--;
        if (from - x > SNAKE) hasSnake = true;
        high[zero + d] = x;
        if (!isOdd && lowFirst <= d && d <= lowLast && x <= low[zero + d]!) return middleAt(x, x - d);
      }

      if (isMinimal) continue;
      const lowFront = { first: lowFirst, last: lowLast };
      const highFront = { first: highFirst, last: highLast };
      if (hasSnake && edits > PATIENCE) {
        const split = this.#goodLowPath(box, lowFront, edits) ?? this.#goodHighPath(box, highFront, edits);
        if (split) return split;
      }
      if (edits >= this.maxEdits) return this.#furthestPath(box, lowFront, highFront);
    }
  }

  #goodLowPath({ aStart, aEnd, bStart, bEnd }: Box, front: Front, edits: number): Split | undefined {
    let best = GOOD_RATIO * edits;
    let split: Split | undefined;
    for (let d = front.last; d >= front.first; d -= 2) {
      const x = this.#low[this.#zero + d]!;
      const y = x - d;
      const gain = x - aStart + (y - bStart) - Math.abs(d - (aStart - bStart));
      if (gain <= best || x < aStart + SNAKE || x >= aEnd || y < bStart + SNAKE || y >= bEnd) continue;
      if (!this.#isSnake(x - SNAKE, y - SNAKE)) continue;
      best = gain;
      split = { a: x, b: y, isLowMinimal: true, isHighMinimal: false };
    }
    return split;
  }

  #goodHighPath({ aStart, aEnd, bStart, bEnd }: Box, front: Front, edits: number): Split | undefined {
    let best = GOOD_RATIO * edits;
    let split: Split | undefined;
    for (let d = front.last; d >= front.first; d -= 2) {
      const x = this.#high[this.#zero + d]!;
      const y = x - d;
      const gain = aEnd - x + (bEnd - y) - Math.abs(d - (aEnd - bEnd));
      if (gain <= best || x <= aStart || x > aEnd - SNAKE || y <= bStart || y > bEnd - SNAKE) continue;
      if (!this.#isSnake(x, y)) continue;
      best = gain;
      split = { a: x, b: y, isLowMinimal: false, isHighMinimal: true };
    }
    return split;
  }

  /**
   * Returns the point that is furthest from the corner where its search started. It is used when the search for the
   * best point reaches its limit, so that the search does not take too long.
   */
  #furthestPath({ aStart, aEnd, bStart, bEnd }: Box, lowFront: Front, highFront: Front): Split {
    let lowSum = -1;
    let lowA = -1;
    for (let d = lowFront.last; d >= lowFront.first; d -= 2) {
      let x = Math.min(this.#low[this.#zero + d]!, aEnd);
      if (x - d > bEnd) x = bEnd + d;
      if (x + x - d <= lowSum) continue;
      lowSum = x + x - d;
      lowA = x;
    }
    let highSum = FAR;
    let highA = FAR;
    for (let d = highFront.last; d >= highFront.first; d -= 2) {
      let x = Math.max(aStart, this.#high[this.#zero + d]!);
      if (x - d < bStart) x = bStart + d;
      if (x + x - d >= highSum) continue;
      highSum = x + x - d;
      highA = x;
    }
    return aEnd + bEnd - highSum < lowSum - (aStart + bStart)
      ? { a: lowA, b: lowSum - lowA, isLowMinimal: true, isHighMinimal: false }
      : { a: highA, b: highSum - highA, isLowMinimal: false, isHighMinimal: true };
  }

  #isSnake(x: number, y: number): boolean {
    for (let at = 0; at < SNAKE; at++) {
      if (this.a[x + at] !== this.b[y + at]) return false;
    }
    return true;
  }
}

function middleAt(a: number, b: number): Split {
  return { a, b, isLowMinimal: true, isHighMinimal: true };
}

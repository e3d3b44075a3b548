import { lengthText } from './axis-scale.js';
import type { Row } from './entry.js';

/** Change of the emulator's clock that the times of requests show. */
export interface ClockMove {
  /** Real time of the change, in milliseconds since the emulator was started. */
  readonly time: number;
  /** Short text, such as `clock +1 h`. */
  readonly text: string;
  readonly detail: string;
}

/**
 * Tolerance in milliseconds when two clocks are compared, and its increase per millisecond. The emulator reads both
 * clocks one after the other, and a busy machine can interrupt it in between. Besides, the system corrects its time
 * gradually.
 */
const TOLERANCE = { least: 100, perMs: 0.001 };

/**
 * Finds changes of the emulator's clock: it was moved forward or back, it stands still, or it follows real time again.
 * The requests are in order of their starts.
 *
 * The clock advances by 1 ms with each request if its mode is `tick`. Such a clock counts as standing still.
 */
export function clockMoves(rows: readonly Row[]): ClockMove[] {
  const moves: ClockMove[] = [];
  let isStill = false;
  /** Request with which the times of later requests are compared. It is the last one at which a change was found. */
  let base = rows[0]!;
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1];
    if (before === undefined) continue;
    const { passed, moved, ticks } = compared(base, row);
    const tolerance = toleranceOf(passed);
    const step = compared(before, row);
    const add = (text: string, detail: string, time = row.started) => moves.push({ time, text, detail });
    if (step.moved < -tolerance) {
      const amount = roundedText(isStill ? -step.moved : step.passed - step.moved);
      add(`clock −${amount}`, `The emulator's clock was set back by ${amount}.`);
    } else if (isAhead(base, row)) {
      // The emulator was interrupted between its readings of the two clocks if the next request shows no move.
      const next = rows[at + 1];
      if (next !== undefined && !isAhead(base, next)) continue;
      const amount = roundedText(isStill ? moved : moved - passed);
      add(`clock +${amount}`, `The emulator's clock was moved forward by ${amount}.`);
    } else if (passed - moved > tolerance) {
      if (!isStill) add('clock still', STILL, base.started + moved);
      isStill = true;
    } else if (isStill && passed > 2 * tolerance && passed - moved >= -tolerance) {
      add('clock runs', "The emulator's clock follows real time again.");
      isStill = false;
    } else if (moved - passed <= tolerance || ticks === 0) {
      continue;
    }
    base = row;
  }
  return moves;
}

const STILL = "The emulator's clock stands still or advances only with each request.";

/**
 * Compares the times of two requests, in milliseconds. `passed` is in real time, `moved` on the emulator's clock.
 * `ticks` is the number of requests from the first to the second, including requests that a filter hides.
 */
function compared(earlier: Row, later: Row) {
  return {
    passed: later.started - earlier.started,
    moved: later.began - earlier.began,
    ticks: Math.max(numberOf(later) - numberOf(earlier), 0),
  };
}

/** Returns true if the emulator's clock moved further than real time and requests explain. */
function isAhead(earlier: Row, later: Row): boolean {
  const { passed, moved, ticks } = compared(earlier, later);
  return moved > Math.max(passed, ticks) + toleranceOf(passed);
}

function toleranceOf(passed: number): number {
  return TOLERANCE.least + passed * TOLERANCE.perMs;
}

/** Formats a length of time in milliseconds. It is rounded to tenths of a second, because the readings are inexact. */
function roundedText(milliseconds: number): string {
  return lengthText(milliseconds < 1_000 ? milliseconds : Math.round(milliseconds / 100) * 100);
}

/** Returns the number of a request. It is the end of the id: the emulator numbers its requests. */
function numberOf({ id }: Row): number {
  return Number(/\d*$/.exec(id)![0]);
}

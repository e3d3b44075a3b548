import { duration } from '../components/time.js';
import { showSpan } from '../control/clock-text.js';
import { lengthOf, type Period } from './axis-lanes.js';

/** Minimum and maximum width in pixels of a shortened pause. */
const BREAK = { min: 4, max: 28 };

/** Maximum share of the width of the window for the shortened pauses, unless they have their minimum width. */
const BREAK_SHARE = 0.4;

/** Returns the width in pixels of each shortened pause. `width` is the width of the window in pixels. */
export function breakWidthFor(breaks: readonly Period[], width: number): number {
  return Math.min(Math.max((width * BREAK_SHARE) / breaks.length, BREAK.min), BREAK.max);
}

/** Width in pixels of the margins before the start and after the end of the period. The right one fits a narrow bar. */
const MARGIN = { left: 6, right: 26 };

/** Minimum width in pixels of the period without its shortened pauses. */
const MIN_WIDTH = 120;

/** Maximum width of the axis in pixels. Browsers cannot lay out much wider elements. */
const MAX_WIDTH = 8_000_000;

/** Maximum scale, in pixels per millisecond. The emulator measures times in microseconds. */
const MAX_SCALE = 2_000;

/**
 * Scale of a time axis, which converts times to positions in pixels. The scale is linear, except that each shortened
 * pause has a fixed width.
 */
export class TimeScale {
  /** Width of the axis in pixels. */
  readonly width: number;

  /**
   * Creates a scale of a period. `breaks` are the shortened pauses within the period, in order. `breakWidth` is the
   * width of each of them in pixels.
   */
  constructor(
    readonly period: Period,
    readonly breaks: readonly Period[],
    readonly pixelsPerMs: number,
    readonly breakWidth: number = BREAK.max,
  ) {
    this.width = this.xOf(period.end) + MARGIN.right;
  }

  /** Returns the position of a time, in pixels from the left end of the axis. */
  xOf(time: number): number {
    let x = MARGIN.left;
    let from = this.period.start;
    for (const { start, end } of this.breaks) {
      if (time <= start) break;
      x += (start - from) * this.pixelsPerMs;
      if (time < end) return x + (this.breakWidth * (time - start)) / (end - start);
      x += this.breakWidth;
      from = end;
    }
    return x + (time - from) * this.pixelsPerMs;
  }

  /** Returns the time at a position, which is given in pixels from the left end of the axis. */
  timeAt(x: number): number {
    let left = x - MARGIN.left;
    let from = this.period.start;
    for (const { start, end } of this.breaks) {
      const width = (start - from) * this.pixelsPerMs;
      if (left <= width) break;
      left -= width;
      if (left < this.breakWidth) return start + ((end - start) * left) / this.breakWidth;
      left -= this.breakWidth;
      from = end;
    }
    return from + left / this.pixelsPerMs;
  }
}

/** Returns the scale, in pixels per millisecond, at which the axis has a given width. */
export function fittingScale(period: Period, breaks: readonly Period[], width: number): number {
  const shown = breaks.reduce((left, pause) => left - lengthOf(pause), lengthOf(period));
  const free = width - MARGIN.left - MARGIN.right - breaks.length * breakWidthFor(breaks, width);
  const pixels = Math.max(free, MIN_WIDTH);
  return limited(shown > 0 ? pixels / shown : 1, period, breaks);
}

/** Limits a scale, in pixels per millisecond, so that the axis is not wider than browsers allow. */
export function limited(scale: number, period: Period, breaks: readonly Period[]): number {
  const shown = breaks.reduce((left, pause) => left - lengthOf(pause), lengthOf(period));
  return Math.min(scale, MAX_SCALE, shown > 0 ? MAX_WIDTH / shown : MAX_SCALE);
}

/** Label of the axis: a position in pixels, and its text. */
export interface Tick {
  readonly x: number;
  readonly text: string;
}

/** Minimum distance between two ticks in pixels. */
const TICK_DISTANCE = 84;

/**
 * Returns the ticks of the visible part of the axis, from the position `from` to the position `to` in pixels. The texts
 * are times since the start of the period.
 */
export function ticksOf(scale: TimeScale, from: number, to: number): Tick[] {
  const { period, breaks, pixelsPerMs } = scale;
  const step = roundStep(TICK_DISTANCE / pixelsPerMs);
  const last = Math.min(scale.timeAt(to), period.end);
  const ticks: Tick[] = [];
  let time = Math.max(Math.floor((scale.timeAt(from) - period.start) / step), 0) * step + period.start;
  while (time <= last) {
    const pause = breaks.find(({ start, end }) => time > start && time < end);
    const x = scale.xOf(time);
    // A tick just before a shortened pause is omitted, because the next tick would cover its text.
    const isFree = pause === undefined && x - (ticks.at(-1)?.x ?? Number.NEGATIVE_INFINITY) >= TICK_DISTANCE * 0.8;
    if (isFree) ticks.push({ x, text: elapsedText(time - period.start, step) });
    const next = pause === undefined ? time + step : pause.end;
    time = Math.ceil((next - period.start) / step - 1e-9) * step + period.start;
  }
  return ticks;
}

/** Returns the smallest of the numbers 1, 2, 5, 10, 20, 50 … (and 0.5, 0.2, 0.1 …) that is at least `min`. */
function roundStep(min: number): number {
  const power = 10 ** Math.floor(Math.log10(min));
  return power * ([1, 2, 5].find((factor) => factor * power >= min) ?? 10);
}

/**
 * Formats a time since the start of the axis, such as `250 ms`, `2.5 s` or `9:50.2` (minutes and seconds). `step` is
 * the distance between two times; it decides the number of decimals. Both are in milliseconds.
 */
export function elapsedText(milliseconds: number, step: number): string {
  const decimals = (unit: number) => Math.min(Math.max(Math.ceil(-Math.log10(step / unit) - 1e-9), 0), 6);
  if (milliseconds < 1_000 && step < 1_000) return `${milliseconds.toFixed(decimals(1))} ms`;
  const digits = decimals(1_000);
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(digits)} s`;
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds % 60).toFixed(digits).padStart(digits === 0 ? 2 : 3 + digits, '0');
  return minutes < 60
    ? `${minutes}:${rest}`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}

/** Formats a length of time given in milliseconds, such as `12 ms`, `3.45 s` or `9 min 50 s`. */
export function lengthText(milliseconds: number): string {
  return milliseconds < 60_000 ? duration(milliseconds) : showSpan(milliseconds);
}

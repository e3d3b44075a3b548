import { beginningOf, markedText } from '../components/marked-text.js';
import { count, duration } from '../components/time.js';
import { endOf, type Lane } from './axis-lanes.js';
import type { TimeScale } from './axis-scale.js';
import type { Row } from './entry.js';

/** Minimum width of a bar in pixels, so that it is visible and can be clicked. */
export const MIN_BAR = 12;

/** Bar of the time axis. It stands for one request, or for several that are too close together for separate bars. */
export interface Bar {
  readonly left: number;
  readonly right: number;
  /** Number of the track (line of bars in a lane), from 0. */
  readonly track: number;
  /** Requests of the bar, in order of their starts. */
  readonly rows: readonly Row[];
  /** Request to which the bar links: the first failed one, or the first if no request failed. */
  readonly row: Row;
}

export function hasFailed({ status, outcome }: Row): boolean {
  return status >= 400 || outcome === 'cut' || outcome === 'gone';
}

/**
 * Returns the bars of a lane from left to right. A request that would be drawn over the previous bar of its track joins
 * that bar.
 */
export function barsOf({ tracks }: Pick<Lane, 'tracks'>, scale: TimeScale): Bar[] {
  const bars = tracks.flatMap((rows, track) => barsOfTrack(rows, track, scale));
  return tracks.length > 1 ? bars.sort((a, b) => a.left - b.left) : bars;
}

function barsOfTrack(rows: readonly Row[], track: number, scale: TimeScale): Bar[] {
  const bars: { left: number; right: number; track: number; rows: Row[]; row: Row }[] = [];
  let before: (typeof bars)[number] | undefined;
  for (const row of rows) {
    const x = scale.xOf(row.started);
    const end = scale.xOf(endOf(row));
    // A request that ends well after the previous bar gets its own bar. The bar begins at the end of the previous one.
    const isJoining = before !== undefined && x < before.right && end - before.right < MIN_BAR;
    if (isJoining && before !== undefined) {
      before.rows.push(row);
      before.right = Math.max(before.right, end);
      if (!hasFailed(before.row) && hasFailed(row)) before.row = row;
      continue;
    }
    const left = Math.max(x, before?.right ?? x);
    before = { left, right: Math.max(end, left + MIN_BAR), track, rows: [row], row };
    bars.push(before);
  }
  return bars;
}

/** Line from the bar of a failed request to the bar of its retry. */
export interface RetryLine {
  readonly from: Bar;
  readonly to: Bar;
}

/** Returns the lines between the bars of a lane that connect failed requests with their retries. */
export function retryLines(bars: readonly Bar[]): RetryLine[] {
  const repeated = new Set(bars.flatMap(({ rows }) => rows.flatMap(({ retryOf }) => retryOf ?? [])));
  if (repeated.size === 0) return [];
  const barOf = new Map<string, Bar>();
  for (const bar of bars) for (const { id } of bar.rows) if (repeated.has(id)) barOf.set(id, bar);
  return bars.flatMap((to) => {
    const starts = new Set(to.rows.map(({ retryOf }) => retryOf && barOf.get(retryOf)));
    return [...starts].flatMap((from) => (from && from !== to && from.left <= to.left ? { from, to } : []));
  });
}

/** Maximum number of characters of a request target in the name of a bar. */
const MAX_TARGET = 100;

/**
 * Returns the accessible name of a bar, such as `GET /api/v1/repo 503, 12 ms, retry of req-00000003`. `rules` are the
 * ids of the client rules that its requests broke.
 */
export function barName({ rows, row }: Pick<Bar, 'rows' | 'row'>, rules: readonly string[]): string {
  const breach = rules.length > 0 ? `, breaks ${rules.join(', ')}` : '';
  const name = requestName(row);
  if (rows.length === 1) return `${name}${breach}`;
  const failed = rows.filter(hasFailed).length;
  const retries = rows.filter(({ retryOf }) => retryOf !== undefined).length;
  const notes = [
    failed > 0 && `${count(failed)} failed`,
    retries > 0 && `${count(retries)} ${retries === 1 ? 'retry' : 'retries'}`,
  ];
  const noted = notes.filter((note) => note !== false).map((note) => `, ${note}`);
  return `${count(rows.length)} requests${noted.join('')}${breach}: ${failed > 0 ? 'first failed' : 'first'} ${name}`;
}

function requestName({ method, target, retryOf, duration: took, ...row }: Row): string {
  const shown = markedText(beginningOf(target, MAX_TARGET));
  const path = shown.length < target.length && target.length > MAX_TARGET ? `${shown}…` : shown;
  const retry = retryOf === undefined ? '' : `, retry of ${retryOf}`;
  return `${method} ${path} ${resultText(row)}, ${duration(took)}${retry}`;
}

function resultText({ status, outcome }: Pick<Row, 'status' | 'outcome'>): string {
  const sent = status === 0 ? 'no response' : `${status}`;
  if (outcome === 'cut') return `${sent} (cut by the emulator)`;
  return outcome === 'gone' ? `${sent} (the client disconnected)` : sent;
}

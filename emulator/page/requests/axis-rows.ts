import { useEffect, useReducer, useRef } from 'preact/hooks';
import { byStart, type LaneKind, lanesOf, longPauses } from './axis-lanes.js';
import { clockMoves } from './clock-moves.js';
import type { Row } from './entry.js';
import type { RowList } from './row-list.js';

/** Minimum time in milliseconds between two layouts of the axis. Each layout reads all rows of the list. */
const PAUSE = 1_000;

/**
 * Returns the rows of the request list with numbers below `shown`, in order of their starts. While requests arrive, the
 * result changes at most once in `PAUSE` milliseconds.
 */
export function useAxisRows(list: RowList<Row>, first: number, shown: number): readonly Row[] {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const version = `${first} ${shown}`;
  const taken = useRef({ list, version: '', rows: [] as readonly Row[], at: Number.NEGATIVE_INFINITY });
  const { current } = taken;
  const wait = current.list !== list || current.rows.length === 0 ? 0 : current.at + PAUSE - performance.now();
  const isOutdated = current.list !== list || current.version !== version;
  if (isOutdated && wait <= 0) {
    // The list may have dropped rows since `first` was read, because a timer renders this component alone.
    taken.current = { list, version, rows: byStart(list.slice(first, shown)), at: performance.now() };
  }
  useEffect(() => {
    if (!isOutdated || wait <= 0) return;
    const timer = setTimeout(() => redraw(undefined), wait);
    return () => clearTimeout(timer);
  }, [list, version]);
  return taken.current.rows;
}

/** Layout of requests on the axis, without positions in pixels. The requests are in order of their starts. */
export function layoutOf(rows: readonly Row[], kind: LaneKind) {
  const start = rows[0]?.started ?? 0;
  const end = rows.reduce((last, { started, duration }) => Math.max(last, started + duration), start);
  return {
    size: rows.length,
    period: { start, end },
    lanes: lanesOf(rows, kind),
    longPauses: longPauses(rows),
    moves: clockMoves(rows),
  };
}

export type AxisLayout = ReturnType<typeof layoutOf>;

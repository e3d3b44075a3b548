import { Given } from '../components/given.js';
import { markedText } from '../components/marked-text.js';
import { count } from '../components/time.js';
import { placeWith } from '../place.js';
import { type Bar, barName, type RetryLine } from './axis-bars.js';
import type { Client, Lane } from './axis-lanes.js';
import { clientName } from './client-name.js';

/** Heights in pixels: of a bar, of the space between two tracks, of a mark above a bar, and of the lowest lane. */
const HEIGHT = { bar: 20, gap: 6, flag: 15, lane: 42 };

/** Lane of the axis with its bars, and its position in the drawing. */
export interface DrawnLane {
  readonly lane: Lane;
  readonly bars: readonly Bar[];
  readonly lines: readonly RetryLine[];
  /** True if a request of the lane broke a client rule. Marks above the bars then name the rules. */
  readonly hasFlags: boolean;
  readonly top: number;
  readonly height: number;
}

/** Returns the height in pixels of one track, which is a line of bars. */
function trackHeight(hasFlags: boolean): number {
  return HEIGHT.bar + HEIGHT.gap + (hasFlags ? HEIGHT.flag : 0);
}

/** Returns the height in pixels of a lane. */
export function laneHeight({ tracks }: Lane, hasFlags: boolean): number {
  return Math.max(tracks.length * trackHeight(hasFlags) + HEIGHT.gap, HEIGHT.lane);
}

/** Returns the position of the upper edge of a bar, in pixels from the upper edge of its lane. */
export function barTop(track: number, hasFlags: boolean): number {
  return HEIGHT.gap + track * trackHeight(hasFlags) + (hasFlags ? HEIGHT.flag : 0);
}

export interface LaneViewProps {
  readonly drawn: DrawnLane;
  readonly index: number;
  /** Number of lanes, including those that are not visible. */
  readonly lanes: number;
  /** Width in pixels of the column with the names of the clients. */
  readonly labelWidth: number;
  /** Width in pixels of the axis without this column. */
  readonly width: number;
  /** Visible part of the axis: positions in pixels. */
  readonly from: number;
  readonly to: number;
  /** Id of the request whose details are open; undefined if none. */
  readonly opened: string | undefined;
  /** Id of the request whose bar has the focus; undefined if none. */
  readonly focused: string | undefined;
  readonly rulesOf: (bar: Bar) => readonly string[];
}

/** Bars of one client. Exactly one of the visible bars is a tab stop. */
export function LaneView({
  drawn,
  index,
  lanes,
  labelWidth,
  width,
  from,
  to,
  opened,
  focused,
  rulesOf,
}: LaneViewProps) {
  const { lane, hasFlags, top, height } = drawn;
  const bars = drawn.bars.filter(({ left, right }) => right >= from && left <= to);
  const hasRow = (bar: Bar, id: string | undefined) => id !== undefined && bar.rows.some((row) => row.id === id);
  const stop = bars.find((bar) => hasRow(bar, focused)) ?? bars.find((bar) => hasRow(bar, opened)) ?? bars[0];
  const flagged = hasFlags ? bars.filter((bar) => rulesOf(bar).length > 0) : [];
  return (
    <li
      class="axis-lane"
      aria-setsize={lanes}
      aria-posinset={index + 1}
      style={{ top: `${top}px`, height: `${height}px` }}
    >
      <div class="axis-label" style={{ width: `${labelWidth}px` }}>
        <ClientLabel client={lane.client} />
        <div class="quiet figures">
          {count(lane.size)}
          <span class="visually-hidden"> {lane.size === 1 ? 'request' : 'requests'}</span>
        </div>
      </div>
      <div class="axis-bars" style={{ left: `${labelWidth}px` }}>
        {drawn.lines
          .filter((line) => line.to.right >= from && line.from.left <= to)
          .map((line) => (
            <RetryMark key={`${line.from.row.id} ${line.to.row.id}`} line={line} hasFlags={hasFlags} />
          ))}
        {bars.map((bar) => (
          <BarLink
            key={bar.row.id}
            bar={bar}
            index={index}
            top={barTop(bar.track, hasFlags)}
            isStop={bar === stop}
            isOpen={hasRow(bar, opened)}
            rules={rulesOf(bar)}
          />
        ))}
        {flagged.map((bar, at) => (
          <Flag
            key={bar.row.id}
            bar={bar}
            rules={rulesOf(bar)}
            top={barTop(bar.track, hasFlags) - HEIGHT.flag}
            end={flagged.slice(at + 1).find(({ track }) => track === bar.track)?.left ?? width}
            width={width}
          />
        ))}
      </div>
    </li>
  );
}

function ClientLabel({ client: { subject, userAgent } }: { readonly client: Client }) {
  if (subject !== undefined) {
    return (
      <div class="axis-client" title={markedText(subject)}>
        <Given text={subject} most={60} />
      </div>
    );
  }
  if (userAgent === undefined) return <div class="quiet">unknown</div>;
  return (
    <div class="axis-client" title={markedText(userAgent)}>
      <Given text={clientName(userAgent)} most={60} />
    </div>
  );
}

interface BarLinkProps {
  readonly bar: Bar;
  /** Number of the lane. */
  readonly index: number;
  readonly top: number;
  readonly isStop: boolean;
  readonly isOpen: boolean;
  readonly rules: readonly string[];
}

function BarLink({ bar, index, top, isStop, isOpen, rules }: BarLinkProps) {
  const { left, right, row, rows } = bar;
  const name = barName(bar, rules);
  const isBroken = row.outcome === 'cut' || row.outcome === 'gone';
  const classes = [
    'axis-bar',
    `bar-${isBroken || row.status === 0 ? 'broken' : `${String(row.status)[0]}xx`}`,
    rows.length > 1 && 'is-merged',
    rows.some(({ retryOf }) => retryOf !== undefined) && 'is-retry',
    rules.length > 0 && 'is-breach',
  ];
  return (
    <a
      class={classes.filter((one) => one !== false).join(' ')}
      href={placeWith({ id: row.id })}
      data-lane={index}
      data-bar={row.id}
      tabIndex={isStop ? 0 : -1}
      aria-current={isOpen ? 'true' : undefined}
      title={`${name}\n${row.at.slice(11, 23)} on the emulator's clock`}
      data-text={textOf(bar)}
      style={{ left: `${left}px`, width: `${right - left}px`, top: `${top}px` }}
    >
      <span class="visually-hidden">{name}</span>
    </a>
  );
}

/** Width in pixels of one character in a bar, and of the space around the text. */
const CHARACTER = 7;
const PADDING = 4;

/** Returns the text of a bar: the number of its requests or its status, or the first digit of the status if narrow. */
function textOf({ left, right, rows, row }: Bar): string {
  const sign = row.outcome === 'cut' || row.outcome === 'gone' ? '✕' : '';
  const status = row.status === 0 ? '–' : `${row.status}`;
  const digit = sign || status[0]!;
  const retry = row.retryOf === undefined ? '' : '↻ ';
  const texts = rows.length > 1 ? [`${count(rows.length)}×`] : [`${retry}${status}${sign}`, `${status}${sign}`];
  return texts.find((text) => text.length * CHARACTER + PADDING <= right - left) ?? digit;
}

/** Line from a failed request to its retry. It is drawn in the middle of the bars. */
function RetryMark({ line: { from, to }, hasFlags }: { readonly line: RetryLine; readonly hasFlags: boolean }) {
  const [top, end] = [from, to].map(({ track }) => barTop(track, hasFlags) + HEIGHT.bar / 2) as [number, number];
  // If the retry is in another track, the line leads down or up first, and then to the retry.
  const [start, height] = [Math.min(top, end), Math.abs(end - top)];
  const width = Math.max(to.left - from.right, 0);
  const direction = height === 0 ? 'level' : end > top ? 'down' : 'up';
  return (
    <div
      class={`axis-retry is-${direction}`}
      style={{ left: `${to.left - width}px`, width: `${width}px`, top: `${start}px`, height: `${height}px` }}
    />
  );
}

interface FlagProps {
  readonly bar: Bar;
  readonly rules: readonly string[];
  readonly top: number;
  /** Position at which the text of the mark must end, and width of the axis; both in pixels. */
  readonly end: number;
  readonly width: number;
}

/** Mark above a bar whose request broke client rules. It names the rules if there is enough space. */
function Flag({ bar, rules, top, end, width }: FlagProps) {
  const text = `! ${rules.join(', ')}`;
  const needed = text.length * CHARACTER;
  const left = Math.max(Math.min(bar.left, width - needed), 0);
  const isShort = left + needed > end && end < width;
  return (
    <span class="axis-flag" aria-hidden="true" style={{ left: `${isShort ? bar.left : left}px`, top: `${top}px` }}>
      {isShort ? '!' : text}
    </span>
  );
}

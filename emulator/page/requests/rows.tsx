import { useRef } from 'preact/hooks';
import { GivenCell } from '../components/given.js';
import { usePrinting, useWidth } from '../components/hooks.js';
import { Origin, Status } from '../components/status.js';
import { bytes, duration, Time } from '../components/time.js';
import { VirtualList } from '../components/virtual-list.js';
import { go, placeWith } from '../place.js';
import { clientName } from './client-name.js';
import { isWhole, type Row } from './entry.js';
import { ORDERS, type Order } from './live-requests.js';
import type { RowList } from './row-list.js';

export interface RequestRowsProps {
  readonly list: RowList<Row>;
  readonly order: Order;
  /**
   * Number of the oldest row. A component is rendered again only if its properties change. `list` stays the same object
   * when rows are added, so this property must change.
   */
  readonly first: number;
  /**
   * Rows with a number below this one are shown. It is the number of the newest visible row plus 1. Newer rows of
   * `list` are hidden until the user asks for them.
   */
  readonly shown: number;
  readonly opened: string | undefined;
  /**
   * Called with true when the user scrolls down or moves the focus to a row. Called with false when the list is at its
   * top again and no row has the focus.
   */
  readonly onAway: (isAway: boolean) => void;
  /**
   * True if the user closed the details of the last request with the keyboard. The focus then returns to the row of
   * this request.
   */
  readonly isByKeyboard: { readonly current: boolean };
}

/**
 * Layouts of a row in the request list. A row has one line of text in a wide list, and two or three lines in narrower
 * lists. `from` is the minimum width of the list in pixels; `height` is the height of a row in pixels.
 */
const WIDE = { name: 'wide', from: 1040, height: 32 };
const NARROW = { name: 'narrow', from: 480, height: 52 };
const SLIM = { name: 'slim', from: 0, height: 78 };

export function RequestRows({ list, order, first, shown, opened, onAway, isByKeyboard }: RequestRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  // A printed page uses the layout with two lines, because a sheet of paper is too narrow for a row with one line.
  const shape = usePrinting() ? NARROW : ([WIDE, NARROW].find(({ from }) => width >= from) ?? SLIM);
  return (
    <div ref={box} class={`request-rows ${shape.name}`}>
      {shape === WIDE && (
        <div class="request-heads" aria-hidden="true">
          <div class="request-row">
            {[...HEADS, ...NUMBERS].map((name) => (
              <span key={name} class={NUMBERS.includes(name) ? 'number' : ''}>
                {name}
              </span>
            ))}
          </div>
        </div>
      )}
      <VirtualList
        label={`Requests, ${ORDERS[order].label}`}
        count={shown - first}
        top={shown - 1}
        rowHeight={shape.height}
        opened={opened === undefined ? undefined : list.find(({ id }) => id === opened)}
        mayTakeFocus={() => isByKeyboard.current}
        onAway={onAway}
        row={(number, isStop) => {
          const row = list.get(number);
          return row && <RequestRow {...{ row, number, isStop }} isOpen={row.id === opened} />;
        }}
      />
    </div>
  );
}

const HEADS = ['Time', 'Status', 'Operation', 'Path', 'Code', 'Repository', 'Subject', 'Client', 'Origin'];
const NUMBERS = ['Duration', 'Size'];

interface RequestRowProps {
  readonly row: Row;
  readonly number: number;
  readonly isOpen: boolean;
  readonly isStop: boolean;
}

function RequestRow({ row, number, isOpen, isStop }: RequestRowProps) {
  const tabIndex = isStop ? 0 : -1;
  const filter = (name: string, value: string | undefined, shown = value && <GivenCell text={value} />) => (
    <span class={`value-${name}`}>
      {value === undefined || !isWhole(value) ? (
        shown
      ) : (
        <button
          type="button"
          class="value"
          tabIndex={tabIndex}
          title={`Filter by ${name}=${value}`}
          onClick={() => go(placeWith({ [name]: value }))}
        >
          {shown}
        </button>
      )}
    </span>
  );
  return (
    <div class={`request-row${isOpen ? ' is-open' : ''}`}>
      <span class="cell-time">
        <Time at={row.at} />
      </span>
      {filter('status', `${row.status}`, <Status status={row.status} />)}
      <span class="cell-operation">
        <span class="quiet method">{row.method}</span>
        {filter('operation', row.operation)}
        {row.command !== undefined && <span class="quiet command">{row.command}</span>}
      </span>
      <a
        class="cell-path mono"
        href={placeWith({ id: row.id })}
        data-row={number}
        tabIndex={tabIndex}
        aria-current={isOpen ? 'true' : undefined}
      >
        <span class="visually-hidden">
          {row.status} {row.method}{' '}
        </span>
        <GivenCell text={row.target} />
      </a>
      {filter('code', row.code)}
      {filter('repository', row.repository)}
      {filter('subject', row.subject)}
      {filter(
        'userAgent',
        row.userAgent,
        row.userAgent && <GivenCell text={clientName(row.userAgent)} full={row.userAgent} />,
      )}
      <span class="cell-origin cut">
        {row.outcome === 'cut' || row.outcome === 'gone' ? <span class="failed">{row.outcome} </span> : null}
        <Origin origin={row.origin} />
      </span>
      <span class="cell-took number">{duration(row.duration)}</span>
      <span class="cell-bytes number" title={`request ${bytes(row.sent)}, response ${bytes(row.received)}`}>
        {bytes(row.sent + row.received)}
      </span>
    </div>
  );
}

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { GivenCell } from '../components/given.js';
import { useListener } from '../components/listener.js';
import { usePrinting } from '../components/printing.js';
import { rowsMovedBy } from '../components/row-focus.js';
import { Origin, Status } from '../components/status.js';
import { bytes, duration, Time } from '../components/time.js';
import { type ListControl, VirtualList } from '../components/virtual-list.js';
import { isWhole, type Row } from './entry.js';
import type { RowList } from './row-list.js';

export interface RequestRowsProps {
  readonly list: RowList<Row>;
  /** The number behind the newest row that is shown. */
  readonly shown: number;
  readonly opened: string | undefined;
  readonly hrefOf: (row: Row) => string;
  readonly onFilter: (name: string, value: string) => void;
  /** Whether the reader is elsewhere than at the top: has scrolled down, or is at a row with the keyboard. */
  readonly onAway: (isAway: boolean) => void;
  /** Whether the request that was open was closed by the keyboard, which goes on from its row. */
  readonly isByKeyboard: { readonly current: boolean };
  /** Filled with what goes back to the top. */
  readonly upwards: { current: () => void };
}

/** A row is in one line; in two or three where the list is narrower. Pixels. */
const SHAPES = [
  { name: 'wide', from: 1000, height: 32 },
  { name: 'narrow', from: 480, height: 52 },
  { name: 'slim', from: 0, height: 78 },
] as const;

type Shape = (typeof SHAPES)[number];

export function RequestRows(props: RequestRowsProps) {
  const { list, shown, opened, hrefOf, onFilter, onAway, isByKeyboard, upwards } = props;
  const box = useRef<HTMLDivElement>(null);
  const control = useRef<ListControl>(null);
  const { name: shape, height } = useShape(box);
  const [offset, setOffset] = useState(0);
  const [focused, setFocused] = useState<number>();
  /** The row that takes the focus as soon as it is there. */
  const wanted = useRef<number>();
  const length = shown - list.first;
  const numberAt = (at: number) => shown - 1 - at;

  const isAway = offset >= height || focused !== undefined;
  useEffect(() => onAway(isAway), [isAway]);
  useEffect(() => () => onAway(false), []);
  useEffect(() => {
    const number = opened === undefined ? undefined : list.find(({ id }) => id === opened);
    if (number !== undefined && number < shown) control.current?.reveal(numberAt(number));
  }, [opened]);
  upwards.current = () => {
    setFocused(undefined);
    control.current?.reveal(0);
  };

  // The one that Tab leads to.
  const inReach = focused ?? (opened === undefined ? undefined : list.find(({ id }) => id === opened));
  const stop = inReach !== undefined && inReach >= list.first && inReach < shown ? inReach : numberAt(0);

  const scroll = (to: number) => {
    setOffset(to);
    // A row that had the focus, and was scrolled away, is no more.
    if (to < height && !box.current?.contains(document.activeElement)) setFocused(undefined);
  };
  const wasOpened = useRef(opened);
  useEffect(() => {
    const closed = opened === undefined ? wasOpened.current : undefined;
    wasOpened.current = opened;
    const number = closed === undefined ? undefined : list.find(({ id }) => id === closed);
    if (number === undefined || !isByKeyboard.current || document.activeElement !== document.body) return;
    wanted.current = number;
    setFocused(number);
    control.current?.reveal(numberAt(number));
  }, [opened]);

  const move = (event: KeyboardEvent) => {
    const by = rowsMovedBy(event);
    if (by === undefined || focused === undefined) return;
    event.preventDefault();
    const at = Math.min(Math.max(numberAt(focused) + by, 0), length - 1);
    wanted.current = numberAt(at);
    setFocused(numberAt(at));
    control.current?.reveal(at);
  };
  useLayoutEffect(() => {
    const link = box.current?.querySelector<HTMLElement>(`[data-number="${wanted.current}"]`);
    if (!link) return;
    wanted.current = undefined;
    link.focus({ preventScroll: true });
  });
  useListener(box, 'keydown', move);
  useListener(box, 'focusin', ({ target }) => {
    const link = (target as Element).closest('.request-row')?.querySelector<HTMLElement>('[data-number]');
    if (link) setFocused(Number(link.dataset.number));
  });
  useListener(box, 'focusout', ({ relatedTarget }) => {
    const isInside = relatedTarget instanceof Node && box.current?.contains(relatedTarget);
    if (!isInside && wanted.current === undefined) setFocused(undefined);
  });
  return (
    <div ref={box} class={`request-rows ${shape}`}>
      {shape === 'wide' && (
        <div class="request-heads" aria-hidden="true">
          <div class="request-row">
            {HEADS.map(({ name, isNumber }) => (
              <span key={name} class={isNumber ? 'number' : ''}>
                {name}
              </span>
            ))}
          </div>
        </div>
      )}
      <VirtualList
        label="Requests, newest first"
        count={length}
        rowHeight={height}
        keyOf={numberAt}
        onScroll={scroll}
        control={control}
        row={(at) => {
          const number = numberAt(at);
          const row = list.get(number);
          if (row === undefined) return null;
          const isOpen = row.id === opened;
          return (
            <RequestRow
              row={row}
              number={number}
              isOpen={isOpen}
              isStop={number === stop}
              href={hrefOf(row)}
              onFilter={onFilter}
            />
          );
        }}
      />
    </div>
  );
}

const HEADS = [
  { name: 'Time' },
  { name: 'Status' },
  { name: 'Operation' },
  { name: 'Path' },
  { name: 'Code' },
  { name: 'Repository' },
  { name: 'Subject' },
  { name: 'Origin' },
  { name: 'Took', isNumber: true },
  { name: 'Bytes', isNumber: true },
];

interface RequestRowProps {
  readonly row: Row;
  readonly number: number;
  readonly isOpen: boolean;
  readonly isStop: boolean;
  readonly href: string;
  readonly onFilter: (name: string, value: string) => void;
}

function RequestRow({ row, number, isOpen, isStop, href, onFilter }: RequestRowProps) {
  const tabIndex = isStop ? 0 : -1;
  const filter = (name: string, value: string | undefined, shown = value && <GivenCell text={value} />) => (
    <span class={`value-${name}`}>
      {value !== undefined && !isWhole(value) && shown}
      {value !== undefined && isWhole(value) && (
        <button
          type="button"
          class="value"
          tabIndex={tabIndex}
          title={`Only ${name} ${value}`}
          onClick={() => onFilter(name, value)}
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
        href={href}
        data-number={number}
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
      <span class="cell-origin cut">
        {row.outcome === 'cut' || row.outcome === 'gone' ? <span class="failed">{row.outcome} </span> : null}
        <Origin origin={row.origin} />
      </span>
      <span class="cell-took number">{duration(row.duration)}</span>
      <span class="cell-bytes number" title={`${bytes(row.sent)} in, ${bytes(row.received)} out`}>
        {bytes(row.sent + row.received)}
      </span>
    </div>
  );
}

function useShape(box: { readonly current: HTMLElement | null }): Shape {
  const isPrinting = usePrinting();
  const [shape, setShape] = useState(() => shapeOf(innerWidth));
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setShape(shapeOf(entry!.contentRect.width)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  // A sheet of paper has room for this one.
  return isPrinting ? SHAPES[1] : shape;
}

function shapeOf(width: number): Shape {
  return SHAPES.find(({ from }) => width >= from) ?? SHAPES[0];
}

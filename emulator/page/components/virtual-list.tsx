import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useListener, usePrinting } from './hooks.js';

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** Height of a row in pixels. All rows have the same height, so that visible rows do not move when rows are added. */
  readonly rowHeight: number;
  /** Number of rows that are rendered when the page is printed, from the first row on; default: all rows. */
  readonly printed?: number;
  /**
   * Number of the top row, for a list whose newest row is at the top and has the highest number. Default: the number of
   * a row is its position from the top, from 0.
   */
  readonly top?: number;
  /**
   * Renders the row with this number. The list finds the row by its attribute `data-row={number}` to set the focus, so
   * the element must have it and be focusable. If `isStop` is true, the element must be a tab stop.
   */
  readonly row: (number: number, isStop: boolean) => ComponentChildren;
  /** Number of the row whose details are open; the list scrolls to show it. Undefined if no row is open. */
  readonly opened?: number | undefined;
  /**
   * Decides whether the row is focused whose details the user just closed. Called only if no other element has the
   * focus. Default: the row is focused.
   */
  readonly mayTakeFocus?: () => boolean;
  /** Called with the position of the last visible row, so that the caller can load more rows. */
  readonly onReach?: (last: number) => void;
  /** Called with true when the user has scrolled down or a row has the focus, and with false when neither is true. */
  readonly onAway?: (isAway: boolean) => void;
}

/** Number of rows that are rendered above the first and below the last visible row. */
const MARGIN = 8;

/** Number of rows by which each key moves the focus; negative: upwards. */
const MOVES: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/**
 * Virtual list: only visible rows are in the document, except when the page is printed. Exactly one row is a tab stop;
 * the arrow and page keys move the focus from it to other rows.
 */
export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, printed = count, top, row, opened, mayTakeFocus = () => true } = props;
  const { onReach, onAway } = props;
  const scroller = useRef<HTMLElement>(null);
  /**
   * `first`: index of the first visible row, from 0. `size`: maximum number of rows that are visible at once, including
   * partly visible ones.
   */
  const [first, setFirst] = useState(0);
  const [size, setSize] = useState(0);
  /**
   * Number of the row that has the focus, and number of a row that takes the focus as soon as it is rendered; undefined
   * if none.
   */
  const [focused, setFocused] = useState<number>();
  const wanted = useRef<number>();
  const isPrinting = usePrinting();
  /**
   * Converts the position of a row to its number, or the number to the position. Both conversions are the same, because
   * `top - (top - at)` is `at`.
   */
  const swap = (at: number) => (top === undefined ? at : top - at);
  const isListed = (number: number) => swap(number) >= 0 && swap(number) < count;

  const measure = () => {
    const { scrollTop, clientHeight } = scroller.current!;
    setFirst(Math.floor(scrollTop / rowHeight));
    setSize(Math.ceil(clientHeight / rowHeight) + 1);
    // Forget the focused row if no row has the focus, because a row that is scrolled out of view is removed from the
    // document.
    if (wanted.current === undefined && !scroller.current!.contains(document.activeElement)) setFocused(undefined);
  };
  /** Scrolls the list by the smallest distance that makes the whole row visible. */
  const reveal = (number: number) => {
    const { scrollTop, clientHeight } = scroller.current!;
    const start = swap(number) * rowHeight;
    const min = start + rowHeight - clientHeight;
    if (scrollTop > start || scrollTop < min) scroller.current!.scrollTop = scrollTop > start ? start : min;
    measure();
  };
  const focus = (number: number) => {
    wanted.current = number;
    setFocused(number);
    reveal(number);
  };

  // Scroll in proportion to the new row height, so that the same row stays at the top of the list when the row height
  // changes with the width of the window.
  const height = useRef(rowHeight);
  useLayoutEffect(() => {
    const before = scroller.current!.scrollTop / height.current;
    if (height.current !== rowHeight) scroller.current!.scrollTop = before * rowHeight;
    height.current = rowHeight;
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(scroller.current!);
    return () => watch.disconnect();
  }, [rowHeight]);
  const wasOpened = useRef<number>();
  useEffect(() => {
    const closed = opened === undefined ? wasOpened.current : undefined;
    wasOpened.current = opened;
    if (opened !== undefined && isListed(opened)) reveal(opened);
    if (closed === undefined || !isListed(closed) || !mayTakeFocus()) return;
    if (document.activeElement === document.body) focus(closed);
  }, [opened, rowHeight]);
  useLayoutEffect(() => {
    const element = scroller.current!.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
    if (!element) return;
    wanted.current = undefined;
    element.focus({ preventScroll: true });
  });
  useListener(scroller, 'scroll', measure);
  useListener(scroller, 'keydown', (event) => {
    const by = event.ctrlKey || event.metaKey || event.altKey ? undefined : MOVES[event.key];
    if (by === undefined || focused === undefined) return;
    event.preventDefault();
    focus(swap(Math.min(Math.max(swap(focused) + by, 0), count - 1)));
  });
  useListener(scroller, 'focusin', ({ target }) => {
    const element = (target as Element).closest('.virtual-row')?.querySelector<HTMLElement>('[data-row]');
    if (element) setFocused(Number(element.dataset.row));
  });
  useListener(scroller, 'focusout', ({ relatedTarget }) => {
    const isInside = relatedTarget instanceof Node && scroller.current!.contains(relatedTarget);
    if (!isInside && wanted.current === undefined) setFocused(undefined);
  });
  const isAway = first > 0 || focused !== undefined;
  useEffect(() => onAway?.(isAway), [isAway]);
  useEffect(() => () => onAway?.(false), []);

  const [start, end] = isPrinting
    ? [0, printed]
    : [Math.max(Math.min(first, count) - MARGIN, 0), Math.min(first + size + MARGIN, count)];
  useLayoutEffect(() => {
    if (!isPrinting) onReach?.(end - 1);
  }, [end, count, isPrinting]);
  const isInView = (at: number) => at >= start && at < end;
  const stop = [focused, opened].find((number) => number !== undefined && isInView(swap(number))) ?? swap(first);
  return (
    <section ref={scroller} class="virtual-list" aria-label={label}>
      <ul class="virtual-rows" style={isPrinting ? {} : { height: `${count * rowHeight}px` }}>
        {Array.from({ length: Math.max(end - start, 0) }, (_, index) => start + index).map((at) => (
          <li
            key={swap(at)}
            class="virtual-row"
            aria-setsize={count}
            aria-posinset={at + 1}
            style={
              isPrinting
                ? { minHeight: `${rowHeight}px` }
                : { height: `${rowHeight}px`, transform: `translateY(${at * rowHeight}px)` }
            }
          >
            {row(swap(at), swap(at) === stop)}
          </li>
        ))}
      </ul>
    </section>
  );
}

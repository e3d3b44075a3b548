import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useListener, usePrinting } from './hooks.js';

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** Height of a row in pixels. All rows have equal heights, so that visible rows do not move when rows are added. */
  readonly rowHeight: number;
  /** Number of rows that are printed when the page is printed, counted from the first row; all rows by default. */
  readonly printed?: number;
  /**
   * Number of the top row. It is given for a list whose newest row is at the top and has the highest number. By
   * default, rows are numbered from the top, starting at 0.
   */
  readonly top?: number;
  /**
   * Renders the row with this number. The element must be focusable and have the attribute `data-row={number}`, because
   * the list uses the attribute to find the row and focus it. If `isStop` is true, the element must be a tab stop.
   */
  readonly row: (number: number, isStop: boolean) => ComponentChildren;
  /** Number of the row whose details are open; undefined if none. The list scrolls until this row is visible. */
  readonly opened?: number | undefined;
  /**
   * Returns true if the row whose details the user just closed gets the focus. Called only if no other element has the
   * focus. If absent, the row gets the focus.
   */
  readonly mayTakeFocus?: () => boolean;
  /** Called with the position of the last visible row. The caller can then load more rows. */
  readonly onReach?: (last: number) => void;
  /**
   * Called with true when the user scrolls down or moves the focus to a row. Called with false when the list is at its
   * top again and no row has the focus.
   */
  readonly onAway?: (isAway: boolean) => void;
}

/** Number of additional rows that are rendered above the first and below the last visible row. */
const MARGIN = 8;

/** Number of rows by which each key moves the focus. Negative numbers move it upwards. */
const MOVES: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/**
 * Virtual list. Only visible rows are in the document, except when the page is printed. Exactly one row is a tab stop;
 * the arrow and page keys move the focus from it to other rows.
 */
export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, printed = count, top, row, opened, mayTakeFocus = () => true } = props;
  const { onReach, onAway } = props;
  const scroller = useRef<HTMLElement>(null);
  /**
   * `first` is the index of the first visible row, from 0. `size` is the maximum number of rows that can be visible,
   * including partly visible ones.
   */
  const [first, setFirst] = useState(0);
  const [size, setSize] = useState(0);
  /**
   * `focused` is the number of the row that has the focus; undefined if none. `wanted` is the number of a row that gets
   * the focus as soon as it is rendered; undefined if none.
   */
  const [focused, setFocused] = useState<number>();
  const wanted = useRef<number>();
  const isPrinting = usePrinting();
  /**
   * Converts the position of a row to its number, or its number to the position. One function does both, because `top -
   * (top - at)` is `at`.
   */
  const swap = (at: number) => (top === undefined ? at : top - at);
  const isListed = (number: number) => swap(number) >= 0 && swap(number) < count;

  const measure = () => {
    const { scrollTop, clientHeight } = scroller.current!;
    setFirst(Math.floor(scrollTop / rowHeight));
    setSize(Math.ceil(clientHeight / rowHeight) + 1);
    // If no row has the focus any more, the focused row is forgotten. This happens when the focused row is scrolled out
    // of view, because it is then removed from the document.
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

  // The scroll position changes in proportion to the row height. The top row therefore stays at the top when the width
  // of the window changes the row height.
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

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useListener, usePrinting } from './hooks.js';

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** Height of a row in pixels: all have the same, so that nothing moves while rows arrive. */
  readonly rowHeight: number;
  /** Number of rows to print; default: all. */
  readonly printed?: number;
  /** Number of the top row, where the numbers of the rows below it decrease. Default: the number of a row is its position. */
  readonly top?: number;
  /** Draws a row. Its element with `data-row={number}`, a tab stop if `isStop`, takes the focus. */
  readonly row: (number: number, isStop: boolean) => ComponentChildren;
  /** Number of the open row, which is brought into view; undefined if no row is open. */
  readonly opened?: number | undefined;
  /** Returns whether the row that was open takes the focus if nothing has it. Default: always. */
  readonly mayTakeFocus?: () => boolean;
  /** Called with the last position in view: a reason to load more. */
  readonly onReach?: (last: number) => void;
  /** Called with true while the reader has scrolled down or has the focus on a row. */
  readonly onAway?: (isAway: boolean) => void;
}

/** Rows that are drawn above and below those in view. */
const MARGIN = 8;

/** Keys that move between rows. */
const MOVES: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** A list of which only the rows in view exist, except in print. One of its rows takes the focus; keys move it. */
export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, printed = count, top, row, opened, mayTakeFocus = () => true } = props;
  const { onReach, onAway } = props;
  const scroller = useRef<HTMLElement>(null);
  /** First position in view, and the number of rows in view. */
  const [first, setFirst] = useState(0);
  const [size, setSize] = useState(0);
  /** Number of the row that has the focus, and of the one that takes it as soon as it is drawn. */
  const [focused, setFocused] = useState<number>();
  const wanted = useRef<number>();
  const isPrinting = usePrinting();
  /** The number at a position, and the position of a number. */
  const swap = (at: number) => (top === undefined ? at : top - at);
  const isListed = (number: number) => swap(number) >= 0 && swap(number) < count;

  const measure = () => {
    const { scrollTop, clientHeight } = scroller.current!;
    setFirst(Math.floor(scrollTop / rowHeight));
    setSize(Math.ceil(clientHeight / rowHeight) + 1);
    // The row that had the focus may have been scrolled away.
    if (wanted.current === undefined && !scroller.current!.contains(document.activeElement)) setFocused(undefined);
  };
  /** Scrolls as little as shows the row. */
  const reveal = (number: number) => {
    const { scrollTop, clientHeight } = scroller.current!;
    const start = swap(number) * rowHeight;
    const least = start + rowHeight - clientHeight;
    if (scrollTop > start || scrollTop < least) scroller.current!.scrollTop = scrollTop > start ? start : least;
    measure();
  };
  const focus = (number: number) => {
    wanted.current = number;
    setFocused(number);
    reveal(number);
  };

  // Rows may have another height when the list becomes narrow: what is on top stays there.
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

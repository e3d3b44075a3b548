import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { usePrinting } from './printing.js';

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** Height of a row in pixels: all have the same, so that nothing moves while rows arrive. */
  readonly rowHeight: number;
  /** Number of rows to print; default: all. */
  readonly printed?: number;
  /** A row; `at` counts from the top. */
  readonly row: (at: number) => ComponentChildren;
  /** Stays with a row when others arrive above it. */
  readonly keyOf: (at: number) => string | number;
  /** Called with the last row in view: a reason to load more. */
  readonly onReach?: (last: number) => void;
  /** Called with how far it is scrolled, in pixels. */
  readonly onScroll?: (offset: number) => void;
  /** Filled with what others may ask of the list. */
  readonly control?: { current: ListControl | null };
}

export interface ListControl {
  /** Brings a row into view. */
  readonly reveal: (at: number) => void;
}

type Options = VirtualizerOptions<HTMLElement, HTMLElement>;

/** A list of which only the rows in view exist, except in print. */
export function VirtualList({
  label,
  count,
  rowHeight,
  printed,
  row,
  keyOf,
  onReach,
  onScroll,
  control,
}: VirtualListProps) {
  const scroller = useRef<HTMLElement>(null);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const options: Options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: ({ scrollOffset }) => {
      onScroll?.(scrollOffset ?? 0);
      redraw(undefined);
    },
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  if (control) control.current = { reveal: (at) => reveal(scroller.current!, at * rowHeight, rowHeight) };
  // Rows may have another height when the list becomes narrow: what is on top stays there.
  const height = useRef(rowHeight);
  useLayoutEffect(() => {
    const top = scroller.current!.scrollTop / height.current;
    height.current = rowHeight;
    virtualizer.measure();
    scroller.current!.scrollTop = top * rowHeight;
  }, [rowHeight]);
  const isPrinting = usePrinting();
  const items = isPrinting
    ? Array.from({ length: printed ?? count }, (_, index) => ({ key: keyOf(index), index, start: 0 }))
    : virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useLayoutEffect(() => {
    if (!isPrinting) onReach?.(last);
  }, [last, count, isPrinting]);
  return (
    <section ref={scroller} class="virtual-list" aria-label={label}>
      <ul class="virtual-rows" style={isPrinting ? {} : { height: `${count * rowHeight}px` }}>
        {items.map(({ key, index, start }) => (
          <li
            key={key}
            class="virtual-row"
            aria-setsize={count}
            aria-posinset={index + 1}
            style={
              isPrinting
                ? { minHeight: `${rowHeight}px` }
                : { height: `${rowHeight}px`, transform: `translateY(${start}px)` }
            }
          >
            {row(index)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Scrolls as little as shows what is `height` pixels high at `top`. */
function reveal(scroller: HTMLElement, top: number, height: number): void {
  const { scrollTop, clientHeight } = scroller;
  if (top < scrollTop) scroller.scrollTop = top;
  else if (top + height > scrollTop + clientHeight) scroller.scrollTop = top + height - clientHeight;
}

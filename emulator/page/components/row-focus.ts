import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useListener } from './listener.js';
import type { ListControl } from './virtual-list.js';

/** Keys that move between rows. */
const MOVES: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** By how many rows an event moves, if it is of a key that does, alone. */
export function rowsMovedBy({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): number | undefined {
  return ctrlKey || metaKey || altKey ? undefined : MOVES[key];
}

export interface RowFocusOptions {
  readonly box: { readonly current: HTMLElement | null };
  readonly control: { readonly current: ListControl | null };
  readonly count: number;
  /** The row that Tab leads to at first. */
  readonly start: number;
}

/** One of the rows of a virtual list takes the focus, on its element with `data-row`; the arrows move it. */
export function useRowFocus({ box, control, count, start }: RowFocusOptions): { readonly stop: number } {
  const [focused, setFocused] = useState<number>();
  /** The row that takes the focus as soon as it is there. */
  const wanted = useRef<number>();
  useLayoutEffect(() => {
    const element = box.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
    if (!element) return;
    wanted.current = undefined;
    element.focus({ preventScroll: true });
  });
  useListener(box, 'keydown', (event) => {
    const by = rowsMovedBy(event);
    if (by === undefined || focused === undefined) return;
    event.preventDefault();
    const at = Math.min(Math.max(focused + by, 0), count - 1);
    wanted.current = at;
    setFocused(at);
    control.current?.reveal(at);
  });
  useListener(box, 'focusin', ({ target }) => {
    const element = (target as Element).closest<HTMLElement>('[data-row]');
    if (element) setFocused(Number(element.dataset.row));
  });
  return { stop: Math.min(focused ?? start, count - 1) };
}

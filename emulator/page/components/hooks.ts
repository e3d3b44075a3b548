import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Calls `close` when Escape is pressed outside of dialogs and fields while something is open. */
export function useEscape(isOpen: boolean, close: (event: KeyboardEvent) => void): void {
  useListener(document.body, 'keydown', (event) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, select') !== null;
    if (event.key !== 'Escape' || !isOpen || isElsewhere) return;
    event.preventDefault();
    close(event);
  });
}

/** Adds an event listener to an element, for elements that are not controls themselves, such as `keydown` on a list. */
export function useListener<Name extends keyof HTMLElementEventMap>(
  element: { readonly current: HTMLElement | null } | HTMLElement,
  name: Name,
  hear: (event: HTMLElementEventMap[Name]) => void,
): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const heard = element instanceof HTMLElement ? element : element.current!;
    const listener = (event: HTMLElementEventMap[Name]) => latest.current(event);
    heard.addEventListener(name, listener);
    return () => heard.removeEventListener(name, listener);
  }, []);
}

/** Returns true while the page is printed, or while the print style is emulated. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(() => matchMedia('print').matches);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    // `beforeprint` is needed too, because `change` fires only after Chromium has counted the sheets.
    addEventListener('beforeprint', () => setPrinting(true), { signal });
    addEventListener('afterprint', () => setPrinting(false), { signal });
    matchMedia('print').addEventListener('change', ({ matches }) => setPrinting(matches), { signal });
    return () => abort.abort();
  }, []);
  // Force a layout, because Chromium counts the sheets by the last layout before it prints.
  useLayoutEffect(() => {
    if (isPrinting) document.body.getBoundingClientRect();
  }, [isPrinting]);
  return isPrinting;
}

/** Returns the width of an element in pixels; the window's width until the element exists. */
export function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(innerWidth);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    watch.observe(element.current!);
    return () => watch.disconnect();
  }, []);
  return width;
}

/** Sets the document title, such as `Control: Clock`; undefined leaves it unchanged. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} – repohost-emulator`;
  }, [title]);
}

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Calls `close` when Escape is pressed outside of dialogs and fields, while something is open. */
export function useEscape(isOpen: boolean, close: (event: KeyboardEvent) => void): void {
  useListener(document.body, 'keydown', (event) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, select') !== null;
    if (event.key !== 'Escape' || !isOpen || isElsewhere) return;
    event.preventDefault();
    close(event);
  });
}

/** Hears the events of an element and all within it, as `keydown`, without being a control itself. */
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

/** Returns true while the page is printed, and where it is shown as in print. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(() => matchMedia('print').matches);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    // `change` comes only after Chromium has counted the sheets.
    addEventListener('beforeprint', () => setPrinting(true), { signal });
    addEventListener('afterprint', () => setPrinting(false), { signal });
    matchMedia('print').addEventListener('change', ({ matches }) => setPrinting(matches), { signal });
    return () => abort.abort();
  }, []);
  // Chromium counts the sheets by the last layout, so that the changed page has to be laid out before it prints.
  useLayoutEffect(() => {
    if (isPrinting) document.body.getBoundingClientRect();
  }, [isPrinting]);
  return isPrinting;
}

/** Width of an element in pixels; that of the window until the element is there. */
export function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(innerWidth);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    watch.observe(element.current!);
    return () => watch.disconnect();
  }, []);
  return width;
}

/** Sets the title of the document to what the page shows, such as `Control: Clock`; undefined leaves it as it is. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} – repohost-emulator`;
  }, [title]);
}

/** Calls `act` every so many milliseconds while the page is in view, and once when it comes into view again. */
export function useRepeated(act: () => void, milliseconds: number): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const repeat = () => {
      if (document.visibilityState === 'visible') latest.current();
    };
    const timer = setInterval(repeat, milliseconds);
    document.addEventListener('visibilitychange', repeat);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', repeat);
    };
  }, [milliseconds]);
}

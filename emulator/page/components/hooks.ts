import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ownValue } from './own-value.js';
import { hasSingleKeys } from './single-keys.js';

/**
 * Calls `close` when Escape is pressed while `isOpen` is true. Escape in a dialog or form field is ignored, because it
 * has another effect there.
 */
export function useEscape(isOpen: boolean, close: (event: KeyboardEvent) => void): void {
  useListener(document.body, 'keydown', (event) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, select') !== null;
    if (event.key !== 'Escape' || !isOpen || isElsewhere) return;
    event.preventDefault();
    close(event);
  });
}

/**
 * Calls the function of a key, such as `/`, when the key is pressed. A key has no effect while a dialog is open or a
 * form field has the focus, because the user then types. It also has none together with Ctrl, Alt or Meta, or if the
 * user has switched these keys off.
 */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useListener(document.body, 'keydown', (event) => {
    const act = hasSingleKeys.peek() ? ownValue(keys, event.key) : undefined;
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
    if (!act || isTyping || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (document.querySelector('dialog[open]')) return;
    event.preventDefault();
    act();
  });
}

/**
 * Adds an event listener to an element while the component is shown. It is meant for elements that are not controls,
 * such as a list that listens to `keydown`.
 */
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

/** Returns true while the page is printed, or while the browser's developer tools emulate the print style. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(() => matchMedia('print').matches);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    // The event `beforeprint` is needed too. Chromium reports the change of the media query only after it has counted
    // the sheets of paper.
    addEventListener('beforeprint', () => setPrinting(true), { signal });
    addEventListener('afterprint', () => setPrinting(false), { signal });
    matchMedia('print').addEventListener('change', ({ matches }) => setPrinting(matches), { signal });
    return () => abort.abort();
  }, []);
  // Reading a size forces a new layout. This is needed, because Chromium counts the sheets of paper by the last layout.
  useLayoutEffect(() => {
    if (isPrinting) document.body.getBoundingClientRect();
  }, [isPrinting]);
  return isPrinting;
}

/** Returns the current width of an element in pixels. Until the element exists, returns the width of the window. */
export function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(innerWidth);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    watch.observe(element.current!);
    return () => watch.disconnect();
  }, []);
  return width;
}

/**
 * Sets the title of the document to `title`, followed by the name of the product. Does nothing if `title` is undefined.
 */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} – repohost-emulator`;
  }, [title]);
}

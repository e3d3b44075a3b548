import { useEffect, useRef } from 'preact/hooks';

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

import { useEffect, useRef } from 'preact/hooks';

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

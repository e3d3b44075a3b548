import { useLayoutEffect, useState } from 'preact/hooks';

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

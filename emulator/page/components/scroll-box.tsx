import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface ScrollBoxProps {
  /** Accessible name of the box, which screen readers announce. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/**
 * Box with its own scroll bars. While its content overflows, the box is a tab stop, so that the user can scroll it with
 * the keyboard (WCAG 2.2, 2.1.1). A box that cannot scroll is not a tab stop, because it would be an unnecessary stop.
 */
export function ScrollBox({ label, children }: ScrollBoxProps) {
  const box = useRef<HTMLElement>(null);
  const [isOverflowing, setOverflowing] = useState(false);
  const measure = () => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = box.current!;
    setOverflowing(scrollWidth > clientWidth || scrollHeight > clientHeight);
  };
  useLayoutEffect(measure);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(measure);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  return (
    <section ref={box} class="scroll-box" {...(isOverflowing && { tabIndex: 0, 'aria-label': label })}>
      {children}
    </section>
  );
}

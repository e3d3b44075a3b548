import { useEffect, useRef } from 'preact/hooks';

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

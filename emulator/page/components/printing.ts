import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

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

import { useState } from 'preact/hooks';
import { count } from './time.js';

export interface MoreOptions {
  /** Items that are shown at first, and that a click adds. */
  readonly first: number;
  readonly step: number;
  /** What the items are, such as `lines`. */
  readonly of: string;
}

/** The beginning of a list that may be long, and the button that shows more of it. */
export function useMore<T>(items: readonly T[], { first, step, of }: MoreOptions) {
  const [most, setMost] = useState(first);
  const left = items.length - most;
  return {
    shown: items.slice(0, most),
    more: left > 0 && (
      <button type="button" class="small more" onClick={() => setMost(most + step)}>
        Show {left > step ? `${count(step)} of ${count(left)}` : count(left)} more {of}
      </button>
    ),
  };
}

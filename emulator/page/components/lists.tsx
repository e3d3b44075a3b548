import { useState } from 'preact/hooks';
import { go, place, placeWith } from '../place.js';
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

/** A field for the parameter `q` of the place. */
export function Search({ label }: { readonly label: string }) {
  return (
    <input
      type="search"
      class="grow"
      aria-label={label}
      placeholder={label}
      value={place.value.params.q ?? ''}
      onInput={({ currentTarget }) => go(placeWith({ q: currentTarget.value }), { replace: true })}
    />
  );
}

/** Returns the items whose name has the parameter `q` of the place in it. */
export function searched<T extends { readonly name: string }>(items: readonly T[]): readonly T[] {
  const wanted = (place.value.params.q ?? '').toLowerCase();
  return items.filter(({ name }) => name.toLowerCase().includes(wanted));
}

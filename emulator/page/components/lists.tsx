import { useState } from 'preact/hooks';
import { go, place, placeWith } from '../place.js';
import { count } from './time.js';

export interface MoreOptions {
  /** Number of items shown at first, and number added by a click. */
  readonly first: number;
  readonly step: number;
  /** Name of the items, such as `lines`. */
  readonly of: string;
}

/** Returns the beginning of a long list, and a button that shows more. */
export function useMore<T>(items: readonly T[], { first, step, of }: MoreOptions) {
  const [max, setMost] = useState(first);
  const left = items.length - max;
  return {
    shown: items.slice(0, max),
    more: left > 0 && (
      <button type="button" class="small more" onClick={() => setMost(max + step)}>
        Show {left > step ? `${count(step)} of ${count(left)}` : count(left)} more {of}
      </button>
    ),
  };
}

/** Search field for the parameter `q` of the place. */
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

/** Returns the items whose name contains the parameter `q` of the place. */
export function searched<T extends { readonly name: string }>(items: readonly T[]): readonly T[] {
  const wanted = (place.value.params.q ?? '').toLowerCase();
  return items.filter(({ name }) => name.toLowerCase().includes(wanted));
}

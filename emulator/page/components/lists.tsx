import { useState } from 'preact/hooks';
import { go, place, placeWith } from '../place.js';
import { count } from './time.js';

export interface MoreOptions {
  /**
   * `first` is the number of items shown at first. `step` is the number of items that each click on the button adds.
   */
  readonly first: number;
  readonly step: number;
  /** Name of the items in the button's text, such as `lines`. */
  readonly of: string;
}

/**
 * Returns the first items of a long list, and a button that shows more items. `more` is false if all items are shown.
 */
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

/**
 * Search field for the names in a list. Its text is stored as the parameter `q` in the page's URL. The function
 * `searched` reads this parameter.
 */
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

/**
 * Returns the items whose name contains the text of the search field, ignoring case. The text is the parameter `q` in
 * the page's URL.
 */
export function searched<T extends { readonly name: string }>(items: readonly T[]): readonly T[] {
  const wanted = (place.value.params.q ?? '').toLowerCase();
  return items.filter(({ name }) => name.toLowerCase().includes(wanted));
}

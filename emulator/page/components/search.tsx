import { go, place, writePlace } from '../place.js';

/** A field for the parameter `q` of the place. */
export function Search({ label }: { readonly label: string }) {
  const { section, params } = place.value;
  return (
    <input
      type="search"
      class="grow"
      aria-label={label}
      placeholder={label}
      value={params.q ?? ''}
      onInput={({ currentTarget }) => go(writePlace(section, { ...params, q: currentTarget.value }), { replace: true })}
    />
  );
}

/** Returns the items whose name has the parameter `q` of the place in it. */
export function searched<T extends { readonly name: string }>(items: readonly T[]): readonly T[] {
  const wanted = (place.value.params.q ?? '').toLowerCase();
  return items.filter(({ name }) => name.toLowerCase().includes(wanted));
}

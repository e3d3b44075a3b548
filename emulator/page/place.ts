import { computed, signal } from '@preact/signals';

/**
 * Where the page is, in the fragment of its address: `#/requests?status=4xx`. The fragment never leaves the browser, so that
 * every place has one file behind it, and none of them is a path of the admin API.
 */
export interface Place {
  /** `requests` */
  readonly section: string;
  readonly params: Readonly<Record<string, string>>;
}

export function readPlace(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#?\/?/, '').split(/\?(.*)/s);
  return { section: path, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** `writePlace('requests', { status: '4xx' })` is `#/requests?status=4xx`. Empty and absent values are left out. */
export function writePlace(section: string, params: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(params).filter((one): one is [string, string] => one[1] !== undefined && one[1] !== '');
  const query = new URLSearchParams(given).toString();
  return `#/${section}${query === '' ? '' : `?${query}`}`;
}

/**
 * The present place with other parameters. Does not subscribe the component that is being drawn to the place, because a
 * component that reads a signal is drawn anew only if its properties are others, and lists of rows change in place. The
 * section reads `place` and draws all of its parts.
 */
export function placeWith(changes: Readonly<Record<string, string | undefined>>): string {
  const { section, params } = place.peek();
  return writePlace(section, { ...params, ...changes });
}

const fragment = signal(typeof location === 'undefined' ? '' : location.hash);
if (typeof addEventListener !== 'undefined') {
  addEventListener('hashchange', () => {
    fragment.value = location.hash;
  });
}

/** Changes with the address. */
export const place = computed(() => readPlace(fragment.value));

/** Goes to another place; with `replace`, "back" does not return to this one. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  fragment.value = location.hash;
}

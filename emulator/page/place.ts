import { computed, signal } from '@preact/signals';

/**
 * Location in the page, stored in the fragment of its address: `#/requests?status=4xx`. The browser does not send the
 * fragment, so one file serves all places, and no place conflicts with a path of the admin API.
 */
export interface Place {
  /** Section, such as `requests`. */
  readonly section: string;
  readonly params: Readonly<Record<string, string>>;
}

export function readPlace(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#?\/?/, '').split(/\?(.*)/s);
  return { section: path, params: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Formats a place: `writePlace('requests', { status: '4xx' })` is `#/requests?status=4xx`. Empty and absent values are
 * omitted.
 */
export function writePlace(section: string, params: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(params).filter((one): one is [string, string] => one[1] !== undefined && one[1] !== '');
  const query = new URLSearchParams(given).toString();
  return `#/${section}${query === '' ? '' : `?${query}`}`;
}

/**
 * Returns the current place with changed parameters. It reads the signal without subscribing the component: a component
 * that reads a signal re-renders only if its properties change, and lists of rows change in place. The section reads
 * `place` and renders all of its parts.
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

/** Current place; a signal that changes with the address. */
export const place = computed(() => readPlace(fragment.value));

/** Navigates to another place. With `replace`, the current place is not kept in the history. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  fragment.value = location.hash;
}

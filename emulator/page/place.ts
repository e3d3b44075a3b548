import { computed, signal } from '@preact/signals';

/**
 * Location within the page, stored in the fragment of the page's address: `#/requests?status=4xx`. The browser does not
 * send the fragment, so one HTML file serves all places, and no place conflicts with a path of the admin API.
 */
export interface Place {
  /** Section of the page, such as `requests`. */
  readonly section: string;
  readonly params: Readonly<Record<string, string>>;
}

export function readPlace(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#?\/?/, '').split(/\?(.*)/s);
  return { section: path, params: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Formats a location within the page: `writePlace('requests', { status: '4xx' })` returns `#/requests?status=4xx`.
 * Empty and absent values are omitted.
 */
export function writePlace(section: string, params: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(params).filter((one): one is [string, string] => one[1] !== undefined && one[1] !== '');
  const query = new URLSearchParams(given).toString();
  return `#/${section}${query === '' ? '' : `?${query}`}`;
}

/**
 * Returns the address of the current place with some parameters changed. It reads the signal without subscribing the
 * calling component, because a subscribed component re-renders only if its properties change, and lists of rows are
 * mutated without becoming other objects. Instead, each section of the page subscribes to `place` and renders all of
 * its parts.
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

/** Current location within the page. This signal changes when the fragment of the page's address changes. */
export const place = computed(() => readPlace(fragment.value));

/**
 * Navigates to another place of the web page. `replace`: the new place replaces the current place in the browser's
 * history, so that the back button skips the current place.
 */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  fragment.value = location.hash;
}

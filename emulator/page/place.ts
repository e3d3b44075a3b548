import { computed, signal } from '@preact/signals';

/**
 * Location within the page. It is stored in the fragment of the page's URL, such as `#/requests?status=4xx`. The
 * browser does not send the fragment. One HTML file therefore serves all places, and no place conflicts with a path of
 * the admin API.
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
 * Empty and absent parameters are omitted.
 */
export function writePlace(section: string, params: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(params).filter((one): one is [string, string] => one[1] !== undefined && one[1] !== '');
  const query = new URLSearchParams(given).toString();
  return `#/${section}${query === '' ? '' : `?${query}`}`;
}

/**
 * Returns the URL of the current place with some parameters changed.
 *
 * The function reads the signal `place` without subscribing the calling component. A subscribed component renders again
 * only if its properties change, but lists of rows are changed in place and stay the same objects. Instead, each
 * section of the page subscribes to `place` and renders all of its parts.
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

/** Current location within the page. The signal changes when the fragment of the page's URL changes. */
export const place = computed(() => readPlace(fragment.value));

/**
 * Navigates to another place of the web page. With `replace`, the new place replaces the current one in the browser's
 * history, so the back button skips the current place.
 */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  fragment.value = location.hash;
}

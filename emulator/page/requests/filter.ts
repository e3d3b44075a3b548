/*
 * Filter of the request list. It has two notations: text that the user types (left), and parameters of the page's URL
 * (right):
 *
 *     status=4xx operation=git* subject="ada b" app.git    status=4xx&operation=git*&subject=ada b&text=app.git
 *
 * The emulator applies the words with a name, such as `status=4xx`, and reports errors in them. They are sent as query
 * parameters of `GET requests`. The page itself searches the texts of its rows for all other words. A quoted word has
 * no name, even if it contains `=`.
 */

import { ownValue } from '../components/own-value.js';

export type Filter = Readonly<Record<string, string>>;

/**
 * Names by which the emulator can filter requests. The value is the list of values that the page suggests for the name.
 */
export const NAMES: Readonly<Record<string, readonly string[]>> = {
  status: ['2xx', '3xx', '4xx', '5xx'],
  operation: ['git*'],
  method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  code: [],
  repository: [],
  subject: [],
  userAgent: ['git/*'],
  origin: ['real', 'state', 'injected'],
  path: [],
  fault: ['*'],
  failed: ['true', 'false'],
  outcome: ['open', 'complete', 'cut', 'gone'],
  organization: [],
  after: [],
  before: [],
  since: [],
  until: [],
  'git.phase': ['advertise', 'rpc'],
  'git.service': ['git-upload-pack', 'git-receive-pack'],
  'git.command': ['ls-refs', 'fetch', 'object-info', 'push'],
  'git.ref': [],
};

/**
 * Parameters of the place in the page's URL that are not part of the filter. `id` is the request whose details are
 * shown, `compare` the request with which it is compared, `order` the order of the list, `groups` a table of counts
 * above the list, and `axis` the time axis above the list.
 */
const VIEW_PARAMS: ReadonlySet<string> = new Set(['id', 'compare', 'order', 'groups', 'axis']);

/** Splits the parameters of a place: into those of the view, such as the selected request, and those of the filter. */
export function splitParams(params: Filter): { readonly view: Filter; readonly filter: Filter } {
  const some = (isOfView: boolean) =>
    Object.fromEntries(Object.entries(params).filter(([name]) => VIEW_PARAMS.has(name) === isOfView));
  return { view: some(true), filter: some(false) };
}

/** Frequent filters, which buttons above the list switch on and off. Each sets the parameter `name` to `value`. */
export const CHIPS = [
  {
    label: 'Errors',
    title: 'Only requests with a status of 400 or above, or with a broken connection',
    name: 'failed',
    value: 'true',
  },
  { label: 'Git', title: 'Only requests of Git clients', name: 'operation', value: 'git*' },
  { label: 'Injected', title: 'Only requests that a fault affected', name: 'fault', value: '*' },
] as const;

/** Names of filters whose value can be a comma-separated list. A request matches if any value of the list matches. */
const LISTS: ReadonlySet<string> = new Set(['status', 'operation', 'code']);

const WORD = /([A-Za-z][A-Za-z.]*)=("(?:[^"\\]|\\.)*"|\S*)|"(?:[^"\\]|\\.)*"|\S+/g;

export function readFilter(words: string): Filter {
  const filter: Record<string, string> = {};
  const texts: string[] = [];
  for (const [word, name, value] of words.matchAll(WORD)) {
    if (name === undefined) texts.push(word);
    else if (LISTS.has(name) && filter[name] !== undefined) filter[name] += `,${unquoted(value!)}`;
    else if (value !== '') filter[name] = unquoted(value!);
  }
  return { ...filter, ...(texts.length > 0 && { text: texts.map(unquoted).join(' ') }) };
}

export function writeFilter({ text, ...named }: Filter): string {
  const words = Object.entries(named).map(([name, value]) => `${name}=${quoted(value)}`);
  const texts = (text ?? '').split(/\s+/).filter((word) => word !== '');
  return [...words, ...texts.map((word) => (word.includes('=') ? `"${word}"` : word))].join(' ');
}

function quoted(value: string): string {
  return /^[^\s"\\]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

function unquoted(value: string): string {
  return /^".*"$/s.test(value) ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value;
}

/**
 * Returns suggestions for the text of the filter field. `values` contains further values to suggest, by name.
 *
 * Each suggestion is the whole text with its last word completed, because the browser replaces the whole text by the
 * suggestion.
 */
export function proposalsOf(words: string, values: Readonly<Record<string, Iterable<string>>>): string[] {
  const [, before, last] = /^(.*?)(\S*)$/s.exec(words) as unknown as [string, string, string];
  const at = last.indexOf('=');
  if (at < 0) {
    return Object.keys(NAMES)
      .filter((name) => name.startsWith(last))
      .map((name) => `${before}${name}=`);
  }
  const [name, begun] = [last.slice(0, at), last.slice(at + 1)];
  // If the value is a comma-separated list, only the part after the last comma is completed.
  const comma = LISTS.has(name) ? begun.lastIndexOf(',') + 1 : 0;
  const known = new Set([...(ownValue(NAMES, name) ?? []), ...(ownValue(values, name) ?? [])]);
  return [...known]
    .filter((value) => value.toLowerCase().startsWith(begun.slice(comma).toLowerCase()))
    .slice(0, MAX_PROPOSALS)
    .map((value) => `${before}${name}=${comma > 0 ? begun.slice(0, comma) + value : quoted(value)}`);
}

const MAX_PROPOSALS = 100;

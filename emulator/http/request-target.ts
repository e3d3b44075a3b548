import { parseHost } from './host.js';
import { problem } from './problem.js';
import type { Scheme } from './scheme.js';

/** A request target, taken apart once: everything later decides on this form. */
export interface RequestTarget {
  /** The path as it was sent, without the query; `*` for the server as a whole, and what CONNECT names. */
  readonly path: string;
  /** The query as it was sent, without `?`; empty when there is none. */
  readonly query: string;
  /** Whom a target in absolute-form names, in place of `Host`. */
  readonly authority?: string;
}

const ABSOLUTE_FORM = /^(https?):\/\/([^/?#]+)([/?#].*)?$/i;

/**
 * Reads the target of a request (RFC 9112, section 3.2):
 *
 *     absolute-form  = absolute-URI            only of the scheme that is spoken here, and without userinfo
 *     authority-form = uri-host ":" port       only with CONNECT
 *     asterisk-form  = "*"                     only with OPTIONS
 *
 * and everything else as origin-form. Throws `bad_request`.
 */
export function readRequestTarget(method: string, raw: string, scheme: Scheme = 'http'): RequestTarget {
  if (method === 'CONNECT') {
    if (!/:\d+$/.test(raw)) throw problem('bad_request', 'The target of CONNECT has to be a host and a port.');
    parseHost(raw);
    return { path: raw, query: '' };
  }
  // Nearly all are in origin-form.
  if (raw.charCodeAt(0) === 0x2f) return parseRequestTarget(raw);
  if (raw === '*' && method === 'OPTIONS') return { path: raw, query: '' };
  const [, named, authority, rest = '/'] = ABSOLUTE_FORM.exec(raw) ?? [];
  if (authority === undefined || named!.toLowerCase() !== scheme) return parseRequestTarget(raw);
  return { ...parseRequestTarget(rest.startsWith('?') ? `/${rest}` : rest), authority };
}

/**
 * Reads the origin-form of a request target (RFC 9112, section 3.2.1):
 *
 *     origin-form = absolute-path [ "?" query ]
 *
 * Node hands other forms, fragments and raw bytes straight through; they are refused here, so that no
 * later step can read the same target in another way. Throws `bad_request`.
 */
export function parseRequestTarget(raw: string): RequestTarget {
  if (raw.charCodeAt(0) !== 0x2f || raw.startsWith('//')) {
    throw problem('bad_request', 'The request target has to start with a single slash.');
  }
  checkCharacters(raw);
  const mark = raw.indexOf('?');
  return mark < 0 ? { path: raw, query: '' } : { path: raw.slice(0, mark), query: raw.slice(mark + 1) };
}

/** Blanks, control characters, raw bytes, `#` and `\`: none of them may stand in a target, and readers differ on them. */
function checkCharacters(raw: string): void {
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    if (code > 0x20 && code < 0x7f && code !== 0x23 && code !== 0x5c) continue;
    throw problem('bad_request', 'The request target holds a character that has to be percent-encoded.');
  }
}

/** Decodes percent sequences once; anything malformed, and an encoded NUL, is `bad_request`. */
export function decodeOnce(part: string, what: string): string {
  if (!part.includes('%')) return part;
  let decoded: string;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    throw problem('bad_request', `${what} holds a malformed percent sequence.`);
  }
  if (decoded.includes('\0')) throw problem('bad_request', `${what} holds a NUL byte.`);
  return decoded;
}

/**
 * Reads a form-encoded query: `+` is a space, arrays repeat their key. A parameter given twice that is
 * not in `repeated` is refused rather than guessed.
 */
export function parseQuery(query: string, repeated: readonly string[]): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null);
  if (query === '') return values;
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decodeOnce((equals < 0 ? pair : pair.slice(0, equals)).replaceAll('+', ' '), 'The query');
    const value = equals < 0 ? '' : decodeOnce(pair.slice(equals + 1).replaceAll('+', ' '), 'The query');
    const present = values[key];
    if (repeated.includes(key)) values[key] = present === undefined ? [value] : [...present, value];
    else if (present === undefined) values[key] = value;
    else throw problem('bad_request', `The query parameter ${key} is given twice.`);
  }
  return values;
}

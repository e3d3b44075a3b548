import { parseHost } from './host.js';
import { problem } from './problem.js';
import type { Scheme } from './scheme.js';

/**
 * Parsed request target, which is the second word of the request line. All code uses this form, because separate
 * parsers could interpret the target differently.
 */
export interface RequestTarget {
  /**
   * Path exactly as sent, without the query. It is `*` if the target is the whole server, and host and port for
   * CONNECT.
   */
  readonly path: string;
  /** Query exactly as sent, without `?`; empty if absent. */
  readonly query: string;
  /**
   * Host and port of a target in absolute-form, which take precedence over the `Host` header. Undefined for other
   * forms.
   */
  readonly authority?: string;
}

const ABSOLUTE_FORM = /^(https?):\/\/([^/?#]+)([/?#].*)?$/i;

/**
 * Parses the target of a request (RFC 9112, section 3.2):
 *
 *     absolute-form  = absolute-URI            only with the scheme of the connection, and without userinfo
 *     authority-form = uri-host ":" port       only with CONNECT
 *     asterisk-form  = "*"                     only with OPTIONS
 *
 * Any other target is parsed as origin-form. Throws `bad_request` if the target is invalid.
 */
export function readRequestTarget(method: string, raw: string, scheme: Scheme = 'http'): RequestTarget {
  if (method === 'CONNECT') {
    if (!/:\d+$/.test(raw))
      throw problem('bad_request', 'The target of CONNECT must be a host and a port, such as example.com:443.');
    parseHost(raw);
    return { path: raw, query: '' };
  }
  // Tests origin-form first, because nearly all targets have it.
  if (raw.charCodeAt(0) === 0x2f) return parseRequestTarget(raw);
  if (raw === '*' && method === 'OPTIONS') return { path: raw, query: '' };
  const [, named, authority, rest = '/'] = ABSOLUTE_FORM.exec(raw) ?? [];
  if (authority === undefined || named!.toLowerCase() !== scheme) return parseRequestTarget(raw);
  return { ...parseRequestTarget(rest.startsWith('?') ? `/${rest}` : rest), authority };
}

/**
 * Parses the origin-form of a request target (RFC 9112, section 3.2.1):
 *
 *     origin-form = absolute-path [ "?" query ]
 *
 * Throws `bad_request` for other forms, fragments and raw bytes. Node accepts these, but later code could interpret
 * them in different ways.
 */
export function parseRequestTarget(raw: string): RequestTarget {
  if (raw.charCodeAt(0) !== 0x2f || raw.startsWith('//')) {
    throw problem('bad_request', 'The path of the request must begin with exactly one slash.');
  }
  checkCharacters(raw);
  const questionMark = raw.indexOf('?');
  return questionMark < 0
    ? { path: raw, query: '' }
    : { path: raw.slice(0, questionMark), query: raw.slice(questionMark + 1) };
}

/**
 * Throws `bad_request` if a request target contains a space, a control character, a raw byte, `#` or `\`. These are
 * invalid, and parsers interpret them differently.
 */
function checkCharacters(raw: string): void {
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at);
    if (code > 0x20 && code < 0x7f && code !== 0x23 && code !== 0x5c) continue;
    throw problem('bad_request', 'The path or query contains a character that must be percent-encoded.');
  }
}

/**
 * Decodes percent-encoding once. Throws `bad_request` for a malformed sequence or an encoded NUL. The message calls the
 * text `what`.
 */
export function decodeOnce(part: string, what: string): string {
  if (!part.includes('%')) return part;
  let decoded: string;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    throw problem(
      'bad_request',
      `${what} has a malformed percent-encoding. % must be followed by two hexadecimal digits, and the bytes must be UTF-8.`,
    );
  }
  if (decoded.includes('\0')) throw problem('bad_request', `${what} contains a NUL byte.`);
  return decoded;
}

/**
 * Parses a form-encoded query, in which `+` means a space. Parameters in `repeated` get an array of values. Throws
 * `bad_request` if any other parameter is given twice.
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
    else throw problem('bad_request', `The query parameter ${key} was sent twice, but is allowed only once.`);
  }
  return values;
}

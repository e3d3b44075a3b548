import { readBody } from './body.js';
import type { Entry } from './entry.js';
import { hasToken, REDACTED } from './repeat-command.js';

/** State of the form that sends a recorded request again. */
export interface Draft {
  readonly method: string;
  readonly path: string;
  /** Query without `?`. */
  readonly query: string;
  /** Headers except `Authorization`, one `Name: value` per line. */
  readonly headers: string;
  /** Body as text; undefined if the recorded body is binary. A binary body is sent unchanged. */
  readonly body: string | undefined;
  /** Token of the request: a new token for the recorded claims, the token in `token`, or none. */
  readonly source: 'new' | 'given' | 'none';
  readonly token: string;
}

/** Pattern for headers that only the browser sets (Fetch standard, forbidden request-header). */
const WRITTEN_BY_BROWSER =
  /^(?:accept-(?:charset|encoding)|access-control-request-.*|connection|content-length|cookie2?|date|dnt|expect|host|keep-alive|origin|referer|set-cookie|te|trailer|transfer-encoding|upgrade|user-agent|via|(?:proxy|sec)-.*)$/i;

/** Methods that browsers refuse (Fetch standard, forbidden method). */
export const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);

export function draftOf(entry: Entry): Draft {
  const { method, path, query, request } = entry;
  const headers = request.headers
    .filter(([name]) => !WRITTEN_BY_BROWSER.test(name) && name.toLowerCase() !== 'authorization')
    .map(([name, value]) => `${name}: ${value}`);
  return {
    method,
    path,
    query,
    headers: headers.join('\n'),
    body: isBinary(entry) ? undefined : (request.body?.text ?? ''),
    source: hasToken(entry) ? 'new' : 'none',
    token: '',
  };
}

/** Returns true if the body cannot be edited as text. */
function isBinary({ request: { body } }: Entry): boolean {
  return body !== undefined && (body.encoding === 'base64' || readBody(body).kind === 'binary');
}

/** Returns a sentence that says why the page cannot send the request again; undefined if it can. */
export function obstacleOf(entry: Entry): string | undefined {
  const { method, operation, request } = entry;
  if (operation?.startsWith('git') && method === 'POST') {
    return operation === 'gitReceivePack'
      ? 'A push cannot be sent again here, because the journal does not store its pack. Use “Copy as git push”.'
      : 'A fetch cannot be sent again here, because its body belongs to the state of one clone. Run git fetch in a clone.';
  }
  if (REFUSED_METHODS.has(method)) return `Browsers refuse to send the method ${method}. Use “Copy as curl”.`;
  if (request.bytes > 0 && request.body === undefined) {
    return `The journal does not store the body of this request, which had ${request.bytes} bytes.`;
  }
  if (request.body?.truncated && isBinary(entry)) {
    return `The body is binary, and the journal has only the first 64 KiB of its ${request.bytes} bytes.`;
  }
  return undefined;
}

/** Returns sentences that say how the new request differs from the recorded one. */
export function notesOf(entry: Entry): string[] {
  const { request, token } = entry;
  const omitted = request.headers.map(([name]) => name).filter((name) => WRITTEN_BY_BROWSER.test(name));
  const notes = [`The browser itself sets some headers, such as ${omitted.join(', ') || 'User-Agent'}.`];
  if (request.body?.truncated && !isBinary(entry)) notes.push(`${truncation(entry)} Complete it before you send it.`);
  if (request.body && isBinary(entry)) notes.push(`The body is binary and is sent unchanged: ${request.bytes} bytes.`);
  if (hasToken(entry) && token === undefined)
    notes.push('The recorded token could not be read, so its claims are unknown.');
  return notes;
}

function truncation({ request }: Entry): string {
  return `The journal has only the first 64 KiB of the body, which had ${request.bytes} bytes.`;
}

/** Reads the headers of the form. Throws if a line is not a header, or still has a mark in place of a secret. */
export function readHeaders(text: string): Headers {
  const headers = new Headers();
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^([^:\s]+):[ \t]*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`The header ${JSON.stringify(line)} is invalid. Write one header per line, as Name: value.`);
    }
    refuseMark(value, `The header ${name}`);
    try {
      headers.append(name, value);
    } catch {
      throw new Error(`The header ${JSON.stringify(line)} has a character that is not allowed in HTTP.`);
    }
  }
  return headers;
}

function refuseMark(text: string, what: string): void {
  if (text.includes(REDACTED)) throw new Error(`${what} has ${REDACTED} in place of a secret. Replace or remove it.`);
}

/**
 * Returns the URL of the new request on the origin of this page. Throws if the browser would change the path, or if it
 * is a path of the admin API.
 */
export function urlOfDraft({ path, query }: Draft, origin: string): URL {
  refuseMark(`${path}?${query}`, 'The path or query');
  if (!path.startsWith('/')) throw new Error('The path must begin with a slash, such as /api/v1/repo.');
  if (/^\/_emulator(?:\/|$)/.test(path))
    throw new Error('Paths below /_emulator are those of the admin API, not of the service.');
  if (/[?#]/.test(path)) throw new Error('The path must not contain ? or #. Write the query into its own field.');
  if (/[^\x20-\x7e]/.test(path + query))
    throw new Error('The path or query has characters that are not visible ASCII. Percent-encode them.');
  const url = new URL(`${origin}${path}${query === '' ? '' : `?${query.replaceAll('#', '%23')}`}`);
  if (decoded(url.pathname) !== decoded(path)) {
    throw new Error(`A browser would send the path ${url.pathname} instead. Use “Copy as curl”.`);
  }
  return url;
}

/** Decodes a path for comparison. A path that is not valid percent-encoding is returned unchanged. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns the bytes of the new request's body; undefined if it is empty. Throws if the body is incomplete. */
export function bodyOfDraft(entry: Entry, { method, body }: Draft): Uint8Array<ArrayBuffer> | undefined {
  const recorded = entry.request.body;
  const bytes = body === undefined ? bytesOf(recorded!) : new TextEncoder().encode(body);
  if (bytes.length === 0) return undefined;
  if (/^(?:GET|HEAD)$/i.test(method))
    throw new Error(`Browsers refuse to send a body with ${method}. Use “Copy as curl”, or remove the body.`);
  if (body === undefined) return bytes;
  refuseMark(body, 'The body');
  if (recorded?.truncated && body === recorded.text) throw new Error(`${truncation(entry)} Complete it first.`);
  return bytes;
}

function bytesOf({ text, encoding }: NonNullable<Entry['request']['body']>): Uint8Array<ArrayBuffer> {
  if (encoding === 'utf8') return new TextEncoder().encode(text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

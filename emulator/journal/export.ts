import { STATUS_CODES } from 'node:http';
import { packageVersion } from '../config/version.js';
import type { JournalEntry, ShownBody, ShownMessage } from './entry.js';

/**
 * Formats journal entries as NDJSON (`application/x-ndjson`), one chunk per entry. The journal is the record of all
 * requests.
 */
export function* toNdjson(entries: Iterable<JournalEntry>): IterableIterator<string> {
  for (const entry of entries) yield `${JSON.stringify(entry)}\n`;
}

/** Facts about an exchange that a recording proxy observed between a client and a deployment. */
export interface Observed {
  /** Scheme and host of the deployment, such as `https://api.example.com`. */
  readonly origin: string;
  /** Time from the start of the request to the response header, or to the end if there was no response, in ms. */
  readonly wait: number;
  /** Length of the response body as transferred, in bytes. The recorded body has no content encoding. */
  readonly transferred: number;
  /** Error of the connection to the deployment; undefined if the response is complete. */
  readonly error?: string | undefined;
  /** True if the deployment could not be reached. The recorded body is then the response of the proxy. */
  readonly isUnreached: boolean;
}

/**
 * Formats journal entries as HTTP Archive (HAR) 1.2, in chunks. The member `_emulator` contains facts for which HAR has
 * no member; HAR reserves names with a leading underscore for applications. `dropped` is the number of requests that
 * are missing because of size limits. `observed` contains further facts about each entry of a recording.
 */
export function* toHar(
  entries: Iterable<JournalEntry>,
  dropped = 0,
  observed?: ReadonlyMap<JournalEntry, Observed>,
): IterableIterator<string> {
  const creator = { name: 'repohost-emulator', version: packageVersion() };
  const facts = JSON.stringify({ dropped, ...(observed && { recorded: true }) });
  yield `{"log":{"version":"1.2","creator":${JSON.stringify(creator)},"_emulator":${facts},"entries":[`;
  let separator = '';
  for (const entry of entries) {
    yield `${separator}${JSON.stringify(toHarEntry(entry, observed?.get(entry)))}`;
    separator = ',\n';
  }
  yield ']}}\n';
}

function toHarEntry(entry: JournalEntry, observed?: Observed) {
  const { method, path, query, status, httpVersion, request, answer: response, duration, began, ...rest } = entry;
  const host = headerOf(request, 'host') ?? 'localhost';
  const version = `HTTP/${httpVersion}`;
  const { at, id, operation, organization, repository, subject, code, origin, faults, why, outcome } = rest;
  return {
    startedDateTime: began,
    time: duration,
    request: {
      method,
      url: `${observed?.origin ?? `http://${host}`}${path}${query === '' ? '' : `?${query}`}`,
      httpVersion: version,
      cookies: [],
      headers: request.headers.map(([name, value]) => ({ name, value })),
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      ...(request.body && { postData: postDataOf(request, request.body) }),
      headersSize: -1,
      bodySize: request.bytes,
    },
    response: {
      status,
      statusText: STATUS_CODES[status] ?? '',
      httpVersion: version,
      cookies: [],
      headers: response.headers.map(([name, value]) => ({ name, value })),
      content: {
        size: response.bytes,
        mimeType: headerOf(response, 'content-type') ?? '',
        ...(response.body && {
          text: response.body.text,
          ...(response.body.encoding === 'base64' && { encoding: 'base64' }),
        }),
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: observed?.transferred ?? response.bytes,
      ...(observed?.error !== undefined && { _error: observed.error }),
    },
    cache: {},
    timings: {
      send: 0,
      wait: observed?.wait ?? duration,
      receive: observed ? Math.max(0, duration - observed.wait) : 0,
    },
    _emulator: {
      id,
      at,
      organization,
      operation,
      repository,
      subject,
      code,
      origin,
      faults,
      why,
      outcome,
      ...(rest.retryOf !== undefined && { retryOf: rest.retryOf }),
      ...(rest.token && { token: rest.token }),
      ...(rest.git && { git: rest.git }),
      ...(observed?.isUnreached && { unreached: true }),
      truncated: { request: request.body?.truncated ?? false, answer: response.body?.truncated ?? false },
    },
  };
}

/**
 * Formats a request body for HAR. HAR has no encoding for request bodies, so binary bodies get the additional member
 * `_encoding` with the value `base64`.
 */
function postDataOf(request: ShownMessage, { text, encoding }: ShownBody) {
  const mimeType = headerOf(request, 'content-type') ?? '';
  return { mimeType, params: [], text, ...(encoding === 'base64' && { _encoding: 'base64' }) };
}

/** Returns the value of the first header field with this name, given in lower case; undefined if absent. */
export function headerOf({ headers }: Pick<ShownMessage, 'headers'>, name: string): string | undefined {
  return headers.find(([field]) => field.toLowerCase() === name)?.[1];
}

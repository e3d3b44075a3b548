import { parseHttpDate } from './http-date.js';
import { problem } from './problem.js';
import { bytes, empty, type Reply, stream } from './reply.js';

/** Body that is produced piece by piece. `pieces` yields the bytes from `start` (inclusive) to `end` (exclusive). */
export interface PiecedBody {
  readonly length: number;
  pieces(start: number, end: number): AsyncIterable<Uint8Array>;
}

/** Body with the metadata that preconditions and ranges are checked against (RFC 9110, section 3.2). */
export interface Representation {
  /** Strong entity tag of the body, in quotes. */
  readonly etag: string;
  /** Time of the last modification in seconds since 1970. */
  readonly lastModified: number;
  readonly body: Buffer | PiecedBody;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the reply to a GET or HEAD request for `representation`. Evaluates the preconditions in the order of RFC
 * 9110, section 13.2.2, and then a single byte range (section 14). HEAD ignores the range, unless `ranged` contains it.
 *
 * A 304 reply has no body. Throws `precondition_failed` (412) if a precondition fails. Throws `range_not_satisfiable`
 * (416) with the size of the body if the range is outside the body.
 */
export function respondConditionally(
  representation: Representation,
  header: (name: string) => string | undefined,
  method: string,
  /** Methods that evaluate the range. Section 14.2 defines ranges only for GET. */
  ranged: readonly string[] = ['GET'],
): Reply {
  const { etag, lastModified, body } = representation;
  const headers = {
    ...representation.headers,
    etag,
    'last-modified': new Date(lastModified * 1000).toUTCString(),
    'accept-ranges': 'bytes',
  };
  const ifMatch = header('if-match');
  const ifUnmodified = dateOf(header('if-unmodified-since'));
  if (
    ifMatch !== undefined
      ? !containsTag(ifMatch, etag, true)
      : ifUnmodified !== undefined && lastModified > ifUnmodified
  ) {
    throw problem('precondition_failed', 'The file has changed: it does not match If-Match or If-Unmodified-Since.', {
      headers,
    });
  }
  const ifNoneMatch = header('if-none-match');
  const ifModified = dateOf(header('if-modified-since'));
  if (
    ifNoneMatch !== undefined
      ? containsTag(ifNoneMatch, etag, false)
      : ifModified !== undefined && lastModified <= ifModified
  ) {
    return empty(304, headers);
  }
  const range = ranged.includes(method) ? header('range') : undefined;
  if (range === undefined || !matchesIfRange(header('if-range'), etag, lastModified)) return reply(200, body, headers);
  const part = parseRange(range, body.length);
  if (part === undefined) return reply(200, body, headers);
  if (part === 'unsatisfiable') {
    throw problem(
      'range_not_satisfiable',
      `The range in the Range header is outside of the file, which has ${body.length} bytes.`,
      {
        headers: { ...headers, 'content-range': `bytes */${body.length}` },
      },
    );
  }
  const contentRange = `bytes ${part.start}-${part.end - 1}/${body.length}`;
  return reply(206, body, { ...headers, 'content-range': contentRange }, part);
}

function reply(
  status: number,
  body: Buffer | PiecedBody,
  headers: Readonly<Record<string, string>>,
  { start, end } = { start: 0, end: body.length },
): Reply {
  if ('pieces' in body) {
    return stream(status, body.pieces(start, end), { ...headers, 'content-length': String(end - start) });
  }
  return bytes(status, body.subarray(start, end), headers);
}

/**
 * Returns true if an `If-Match` or `If-None-Match` header with this value matches `etag`. If `strong` is true, a weak
 * tag (`W/…`) never matches.
 */
function containsTag(value: string, etag: string, strong: boolean): boolean {
  if (value.trim() === '*') return true;
  return value.split(',').some((one) => {
    const tag = one.trim();
    return tag === etag || (!strong && tag === `W/${etag}`);
  });
}

function matchesIfRange(ifRange: string | undefined, etag: string, lastModified: number): boolean {
  if (ifRange === undefined) return true;
  return ifRange.startsWith('"') || ifRange.startsWith('W/')
    ? ifRange.trim() === etag
    : dateOf(ifRange) === lastModified;
}

function dateOf(value: string | undefined): number | undefined {
  return value === undefined ? undefined : parseHttpDate(value);
}

/**
 * Parses a single byte range (RFC 9110, section 14.1.2). The end of the result is exclusive.
 *
 *     int-range    = first-pos "-" [ last-pos ]
 *     suffix-range = "-" suffix-length
 *
 * Returns undefined for several ranges, other units and malformed values. Section 14.2 allows a server to ignore these.
 */
function parseRange(value: string, size: number): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i.exec(value.trim());
  if (!match) return undefined;
  if (match[3] !== undefined) {
    const length = Math.min(Number(match[3]), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(match[1]);
  const last = match[2] === '' ? size - 1 : Number(match[2]);
  if (last < start && match[2] !== '') return undefined;
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(last + 1, size) };
}

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { problem } from '../http/problem.js';

/**
 * The bytes of a request body without its content encoding. Git compresses fetch requests above 1 KiB.
 * A body that inflates to more than `most` bytes is refused before memory is spent on it.
 */
export function decodeBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  most: number,
): AsyncIterable<Uint8Array> {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return bounded(body, most);
    case 'gzip':
    case 'x-gzip':
      return bounded(gunzip(body), most);
    default:
      throw problem('unsupported_media_type', `Content-Encoding '${encoding}' is not supported; send gzip or nothing.`);
  }
}

async function* bounded(body: AsyncIterable<Uint8Array>, most: number): AsyncIterable<Uint8Array> {
  let total = 0;
  for await (const piece of body) {
    total += piece.length;
    if (total > most) throw problem('payload_too_large', `The request body exceeds ${most} bytes.`);
    yield piece;
  }
}

async function* gunzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const inflated = createGunzip();
  // The end of the pipeline is seen, with its error, by whoever reads `inflated`.
  const ended = pipeline(Readable.from(body, { objectMode: false }), inflated).catch(() => undefined);
  try {
    yield* inflated;
  } catch (error) {
    throw isInflateError(error) ? problem('bad_request', 'The request body is not well-formed gzip.') : error;
  } finally {
    inflated.destroy();
    await ended;
  }
}

function isInflateError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('Z_');
}

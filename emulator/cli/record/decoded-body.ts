import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import { CapturedBody } from '../../journal/captured-body.js';

type Decode = (body: Buffer, options: { finishFlush: number; maxOutputLength: number }) => Buffer;

/** Functions that remove a content encoding (RFC 9110, section 8.4.1), by the name of the encoding. */
const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', (body, { maxOutputLength }) => brotliDecompressSync(body, { ...FLUSHED_BROTLI, maxOutputLength })],
]);

const FLUSHED_BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

/** Maximum ratio between a decoded body and the number of its bytes to record. Larger bodies are not recorded. */
const MAX_EXPANSION = 64;

/**
 * Returns a response body without its content encoding, because secrets can be found only in plain text. If the body
 * cannot be decoded, nothing of it is kept. `raw` contains the header fields, in the format of Node's `rawHeaders`.
 */
export function decodeBody(body: CapturedBody, raw: readonly string[], max: number): CapturedBody {
  const encoding = raw.find((_, at) => at % 2 === 1 && raw[at - 1]!.toLowerCase() === 'content-encoding');
  if (encoding === undefined || encoding.trim().toLowerCase() === 'identity' || body.weight === 0) return body;
  const decode = DECODERS.get(encoding.trim().toLowerCase());
  const decoded = new CapturedBody(max);
  try {
    if (!decode) throw new Error('unknown encoding');
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_EXPANSION * max };
    decoded.add(decode(body.content(), options));
    if (!body.isWhole) decoded.isWhole = false;
    return decoded;
  } catch {
    const absent = new CapturedBody(0);
    absent.bytes = body.bytes;
    absent.isWhole = false;
    return absent;
  }
}

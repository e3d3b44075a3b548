import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

const LEVEL = 1;
/** Number of bytes deflated between two yields to the event loop. */
const UNIT = 128 * 1024;
/** Maximum distance in bytes at which a deflated stream can refer to earlier, equal data. */
const WINDOW = 32 * 1024;

/**
 * First two bytes of a zlib stream with this compression level (RFC 1950, 2.2). They state a window of 32 KiB and
 * contain the check bits of the header.
 */
const HEADER = Buffer.from('7801', 'hex');

/**
 * Deflates bytes into a zlib stream as `deflateSync` does, but yields to the event loop between pieces of a long input.
 * A piece may refer to repeated data in the previous piece, so the stream is hardly longer. The Adler-32 checksum of
 * the whole input follows the pieces.
 */
export function* deflate(bytes: Buffer): Steps<Buffer> {
  if (bytes.length <= UNIT) return deflateSync(bytes, { level: LEVEL });
  const pieces = [HEADER];
  let sum = 1;
  for (let at = 0; at < bytes.length; at += UNIT) {
    yield UNIT * COST.byteDeflated;
    const piece = bytes.subarray(at, at + UNIT);
    const isLast = at + UNIT >= bytes.length;
    const options = {
      level: LEVEL,
      finishFlush: isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
      ...(at > 0 && { dictionary: bytes.subarray(at - WINDOW, at) }),
    };
    pieces.push(deflateRawSync(piece, options));
    sum = adler32(sum, piece);
  }
  const trailer = Buffer.alloc(4);
  trailer.writeUInt32BE(sum);
  return Buffer.concat([...pieces, trailer]);
}

/**
 * Returns the Adler-32 checksum (RFC 1950, 8.2) of data that ends with `bytes`. `before` is the checksum of the data
 * before `bytes`. The checksum consists of two sums modulo 65521. They stay below 2^32 for 5552 bytes, so one modulo
 * operation per 5552 bytes is enough.
 */
function adler32(before: number, bytes: Buffer): number {
  let low = before & 0xffff;
  let high = before >>> 16;
  for (let at = 0; at < bytes.length; ) {
    for (const end = Math.min(at + 5552, bytes.length); at < end; at++) {
      low += bytes[at]!;
      high += low;
    }
    low %= 65521;
    high %= 65521;
  }
  return ((high << 16) | low) >>> 0;
}

import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

const LEVEL = 1;
/** Number of bytes deflated between two yields. */
const UNIT = 128 * 1024;
/** Maximum distance of a back reference in a deflated stream, in bytes. */
const WINDOW = 32 * 1024;

/** Header of a zlib stream of this level (RFC 1950, 2.2): a window of 32 KiB and the header check bits. */
const HEADER = Buffer.from('7801', 'hex');

/**
 * Deflates like `deflateSync`, but yields in between. Splits a long input into pieces, each of which may refer back to
 * the piece before it, and appends the Adler-32 checksum of the whole input.
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
 * Continues an Adler-32 checksum (RFC 1950, 8.2): two sums modulo 65521. The sums stay below 2^32 for 5552 bytes
 * without a modulo operation.
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

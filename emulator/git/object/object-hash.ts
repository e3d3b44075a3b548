import * as crypto from 'node:crypto';
import { type Oid, oidIn, type TypeCode, typeName } from './object.js';

/**
 * Number of bytes reserved before an object body for the header that Git hashes, `<type> SP <size> NUL`. The longest
 * header, `commit 18446744073709551615\0`, has 28 bytes.
 */
export const HEADROOM = 32;

const PREFIXES = ([1, 2, 3, 4] as const).map((code) => Buffer.from(`${typeName(code)} `, 'latin1'));
const ZERO = 0x30;

/**
 * Function that computes the SHA-1 of the bytes `start` to `end` (exclusive) of `buffer`. It writes the 20 bytes of the
 * result to `target` at offset `at`.
 */
export type HashBytes = (buffer: Buffer, start: number, end: number, target: Buffer, at: number) => void;

/**
 * Computes the SHA-1 with the one-shot `crypto.hash` (Node 20.12 and later). It takes a quarter of the time of
 * `createHash`. The digest is requested as a `binary` string, because such a string is the fastest to copy.
 */
export const hashBytes: HashBytes = (buffer, start, end, target, at) => {
  target.write(crypto.hash('sha1', buffer.subarray(start, end), 'binary'), at, 20, 'latin1');
};

/**
 * Writes the header that Git hashes before an object body: `<type> SP <size in decimal> NUL`. The header ends where the
 * body starts, so the buffer must have `HEADROOM` free bytes before the body. Returns the offset at which the header
 * starts.
 */
export function writeHeaderBefore(buffer: Buffer, bodyStart: number, type: TypeCode, size: number): number {
  let at = bodyStart - 1;
  buffer[at] = 0;
  let rest = size;
  do {
    buffer[--at] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  } while (rest > 0);
  const prefix = PREFIXES[type - 1]!;
  for (let byte = prefix.length - 1; byte >= 0; byte--) buffer[--at] = prefix[byte]!;
  return at;
}

/** Returns the id of an object, as `git hash-object` computes it. */
export function hashObject(type: TypeCode, body: Buffer): Oid {
  return oidIn(
    crypto
      .createHash('sha1')
      .update(`${typeName(type)} ${body.length}\0`)
      .update(body)
      .digest(),
  );
}

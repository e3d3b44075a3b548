import { isUtf8 as isUtf8AtOnce } from 'node:buffer';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

/** Number of bytes that are checked between two yields to the event loop. */
const UNIT = 1 << 20;

/** Returns true if the bytes are well-formed UTF-8 (RFC 3629). Surrogates and overlong forms are not. */
export function* isUtf8(bytes: Buffer): Steps<boolean> {
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    if (from > 0) yield UNIT * COST.byteFound;
    to = characterStart(bytes, Math.min(from + UNIT, bytes.length));
    if (!isUtf8AtOnce(bytes.subarray(from, to))) return false;
  }
  return true;
}

/**
 * Returns the end of the text in `bytes` that Git would print in the heading of a hunk. This is the position of the
 * first malformed UTF-8, U+FFFE or U+FFFF between `start` and `end`; `end` if there is none.
 */
export function wellFormedEnd(bytes: Buffer, start: number, end: number): number {
  for (let at = start; at < end; ) {
    const first = bytes[at]!;
    const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const isNoncharacter = first === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2]! >= 0xbe;
    if (at + size > end || isNoncharacter || !isUtf8AtOnce(bytes.subarray(at, at + size))) return at;
    at += size;
  }
  return end;
}

/**
 * Returns the position of the first byte of the character that contains byte `at`. At most three continuation bytes
 * (`10xxxxxx`) follow this first byte.
 */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4 && start >= 0; start--) {
    if (start === bytes.length || (bytes[start]! & 0xc0) !== 0x80) return start;
  }
  return at;
}

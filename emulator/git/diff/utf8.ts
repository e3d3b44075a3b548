import { isUtf8 as isUtf8AtOnce } from 'node:buffer';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

/** Bytes looked at between two steps. */
const UNIT = 1 << 20;

/** Whether the bytes are well-formed UTF-8 (RFC 3629): without surrogates or overlong forms. In steps. */
export function* isUtf8(bytes: Buffer): Steps<boolean> {
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    if (from > 0) yield UNIT * COST.byteFound;
    to = characterStart(bytes, Math.min(from + UNIT, bytes.length));
    if (!isUtf8AtOnce(bytes.subarray(from, to))) return false;
  }
  return true;
}

/** Where the first character between the two places starts that Git would not print: malformed, U+FFFE or U+FFFF. */
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

/** Where the character starts that byte `at` belongs to: it has at most three more bytes, `10xxxxxx` each. */
function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4 && start >= 0; start--) {
    if (start === bytes.length || (bytes[start]! & 0xc0) !== 0x80) return start;
  }
  return at;
}

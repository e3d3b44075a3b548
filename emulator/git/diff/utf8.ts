import { isUtf8 as isUtf8AtOnce } from 'node:buffer';
import type { Steps } from '../history/steps.js';

/** Bytes looked at between two steps. */
const UNIT = 1 << 20;

/** Whether the bytes are well-formed UTF-8 (RFC 3629): without surrogates or overlong forms. In steps. */
export function* isUtf8(bytes: Buffer): Steps<boolean> {
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    if (from > 0) yield;
    to = characterStart(bytes, Math.min(from + UNIT, bytes.length));
    if (!isUtf8AtOnce(bytes.subarray(from, to))) return false;
  }
  return true;
}

/** Where the character starts that byte `at` belongs to: it has at most three more bytes, `10xxxxxx` each. */
export function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4 && start >= 0; start--) {
    if (start === bytes.length || (bytes[start]! & 0xc0) !== 0x80) return start;
  }
  return at;
}

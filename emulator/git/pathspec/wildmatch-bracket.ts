import type { ByteString } from '../object/bytes.js';

/**
 * Set of bytes that a bracket expression such as `[a-z]` matches. The array has an item for each of the 256 byte
 * values, 1 if the byte is in the set.
 */
export type ByteSet = Uint8Array;

const DIGIT = [0x30, 0x39];
const UPPER = [0x41, 0x5a];
const LOWER = [0x61, 0x7a];

/**
 * POSIX character classes, such as `[:alpha:]`, in the C locale. Each class is a list of ranges: pairs of first and
 * last byte.
 */
export const POSIX_CLASSES: Readonly<Record<string, readonly number[]>> = {
  alnum: [...DIGIT, ...UPPER, ...LOWER],
  alpha: [...UPPER, ...LOWER],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0, 0x1f, 0x7f, 0x7f],
  digit: DIGIT,
  graph: [0x21, 0x7e],
  lower: LOWER,
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: UPPER,
  xdigit: [...DIGIT, 0x41, 0x46, 0x61, 0x66],
};

/**
 * Parses the bracket expression, such as `[a-z]`, whose `[` is at position `start` of the pattern. Returns the set of
 * matching bytes, and the position after the `]` (`end`). Returns undefined if the expression is not closed or names an
 * unknown class.
 *
 * A `]` that is the first byte of the set stands for itself. A `\` quotes the next byte, also at the ends of a range.
 *
 * With `ignoreCase`, the compared text is in lower case. Capitals in ranges and in `[:upper:]` therefore also match as
 * lower-case letters. As in Git, a single capital in the expression is not converted.
 */
export function readBracket(
  pattern: ByteString,
  start: number,
  ignoreCase: boolean,
): { set: ByteSet; end: number } | undefined {
  const isNegated = pattern[start + 1] === '!' || pattern[start + 1] === '^';
  const set: ByteSet = new Uint8Array(256);
  const first = start + (isNegated ? 2 : 1);
  let at = first;
  // Last single byte before `at`; -1 after a range or a class. It is the start of a range if `-` follows.
  let previous = -1;
  while (at < pattern.length && (pattern[at] !== ']' || at === first)) {
    if (pattern.startsWith('[:', at)) {
      const close = pattern.indexOf(']', at + 2);
      if (close < 0) return undefined;
      if (close > at + 2 && pattern[close - 1] === ':') {
        if (!addClass(set, pattern.slice(at + 2, close - 1), ignoreCase)) return undefined;
        previous = -1;
        at = close + 1;
        continue;
      }
    }
    const isRange = pattern[at] === '-' && previous > 0 && at + 1 < pattern.length && pattern[at + 1] !== ']';
    if (isRange) at++;
    if (pattern[at] === '\\') at++;
    if (at >= pattern.length) return undefined;
    const byte = pattern.charCodeAt(at++);
    addRange(set, isRange ? previous : byte, byte, isRange && ignoreCase);
    previous = isRange ? -1 : byte;
  }
  if (at >= pattern.length) return undefined;
  if (isNegated) for (let byte = 0; byte < set.length; byte++) set[byte]! ^= 1;
  return { set, end: at + 1 };
}

function addRange(set: ByteSet, low: number, high: number, ignoreCase: boolean): void {
  for (let byte = low; byte <= high; byte++) {
    set[byte] = 1;
    if (ignoreCase && byte >= 0x41 && byte <= 0x5a) set[byte + 0x20] = 1;
  }
}

function addClass(set: ByteSet, name: string, ignoreCase: boolean): boolean {
  if (!Object.hasOwn(POSIX_CLASSES, name)) return false;
  const ranges = POSIX_CLASSES[ignoreCase && name === 'upper' ? 'alpha' : name]!;
  for (let at = 0; at < ranges.length; at += 2) set.fill(1, ranges[at], ranges[at + 1]! + 1);
  return true;
}

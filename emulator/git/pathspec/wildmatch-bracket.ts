import type { ByteString } from '../object/bytes.js';

/** 256 flags: 1 for each byte that a bracket expression matches. */
export type ByteSet = Uint8Array;

/** POSIX character classes of the C locale, for the bytes below 128. */
const CLASSES: Readonly<Record<string, readonly number[]>> = bytesOfEach({
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[^ -~]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
});

/**
 * Reads the bracket expression whose `[` is at `start`; undefined where it is not closed or names an unknown class.
 * Its first byte may be `]`; `\` takes the next byte as it is, also at the ends of a range.
 *
 * With `ignoreCase` texts come in lower case, and ranges and `[:upper:]` match what their capitals would. Single
 * capitals are not folded: that is how Git has it.
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
  // The byte a following `-` would start a range at; none after a range or a class.
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
  if (!Object.hasOwn(CLASSES, name)) return false;
  for (const byte of CLASSES[ignoreCase && name === 'upper' ? 'alpha' : name]!) set[byte] = 1;
  return true;
}

function bytesOfEach(classes: Readonly<Record<string, RegExp>>): Record<string, readonly number[]> {
  const bytes = Array.from({ length: 128 }, (_, byte) => byte);
  const bytesOf = (pattern: RegExp) => bytes.filter((byte) => pattern.test(String.fromCharCode(byte)));
  return Object.fromEntries(Object.entries(classes).map(([name, pattern]) => [name, bytesOf(pattern)]));
}

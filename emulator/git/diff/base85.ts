import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import type { ByteSink } from './byte-sink.js';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const VALUES = new Int8Array(256).fill(-1);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;

/** Maximum number of data bytes in one line of a binary patch. */
const LINE_BYTES = 52;
const LF = 10;
/** Number of lines written between two yields to the event loop. */
const UNIT = 512;

/**
 * Writes bytes as lines of a binary patch, in Git's base 85 encoding (`base85.c`). The first letter of a line states
 * its number of bytes: `A` to `Z` for 1 to 26, `a` to `z` for 27 to 52. Each group of four bytes follows as five
 * digits, the most significant digit first. The last group is padded with zeros.
 */
export function* writeBase85(sink: ByteSink, bytes: Buffer): Steps<void> {
  let line = 0;
  for (let start = 0; start < bytes.length; start += LINE_BYTES) {
    if (++line % UNIT === 0) yield UNIT * COST.line;
    const size = Math.min(LINE_BYTES, bytes.length - start);
    sink.byte(size <= 26 ? 0x40 + size : 0x60 + size - 26);
    for (let at = start; at < start + size; at += 4) {
      let word = 0;
      for (let index = at; index < at + 4; index++) word = word * 256 + (index < start + size ? bytes[index]! : 0);
      for (let divisor = 85 ** 4; divisor >= 1; divisor /= 85) {
        sink.byte(DIGITS.charCodeAt(Math.floor(word / divisor) % 85));
      }
    }
    sink.byte(LF);
  }
}

/**
 * Decodes one line of a binary patch: the bytes of `patch` from `start` to `end` (exclusive), without the line feed.
 * Returns undefined if the line is malformed.
 */
export function readBase85Line(patch: Buffer, start: number, end: number): Buffer | undefined {
  const letter = patch[start]!;
  const isUpper = letter >= 0x41 && letter <= 0x5a;
  const isLower = letter >= 0x61 && letter <= 0x7a;
  if (!isUpper && !isLower) return undefined;
  const size = isUpper ? letter - 0x40 : letter - 0x60 + 26;
  if (end - start - 1 !== Math.ceil(size / 4) * 5) return undefined;
  const bytes = Buffer.alloc(Math.ceil(size / 4) * 4);
  for (let at = start + 1, target = 0; at < end; at += 5, target += 4) {
    let word = 0;
    for (let index = at; index < at + 5; index++) {
      const value = VALUES[patch[index]!]!;
      if (value < 0) return undefined;
      word = word * 85 + value;
    }
    if (word > 0xffff_ffff) return undefined;
    bytes.writeUInt32BE(word, target);
  }
  return bytes.subarray(0, size);
}

import { isAscii } from 'node:buffer';
import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';

/** How far the grams of a text are apart, and their bytes: of the word at a place, and half of the next one. */
const STRIDE = 4;
const GRAM = 6;
/** From so many bytes on, a text holds a whole gram wherever in a file it begins. */
const SHORTEST = GRAM + STRIDE - 1;
/** `indexOf` is linear for texts up to this length. */
const LONGEST = 250;
/** Sets bit 5 of each byte, so that letters are equal in either case; some other bytes are, too. */
const FOLD = 0x20202020;
const FOLD_HALF = 0x2020;
/** 2 ** 32 divided by the golden ratio: the upper bits of a product with it spread well (Knuth, volume 3, 6.4). */
const GOLDEN = 0x9e3779b1 | 0;
const MIX = 0x85ebca6b | 0;
/** Bits of a filter for each byte of its text, at least. */
const BITS_PER_BYTE = 2;
const SMALLEST = 6;
/** Words between two steps. */
const UNIT = 1 << 14;

/** A text that is to be found in a file of UTF-8, as its filter is asked for it. */
export class Needle {
  /** The hashes of the grams in it, for each place of the four in which it can begin. */
  readonly phases: readonly Int32Array[];

  private constructor(
    readonly text: string,
    /** Its first bytes. */
    readonly bytes: Buffer,
    readonly ignoreCase: boolean,
  ) {
    const phases = bytes.length < SHORTEST ? [] : [0, 1, 2, 3];
    this.phases = phases.map((phase) => {
      const hashes: number[] = [];
      for (let at = phase; at + GRAM <= bytes.length; at += STRIDE) {
        hashes.push(hashOf(bytes.readInt32LE(at), bytes.readUInt16LE(at + 4)));
      }
      return Int32Array.from(hashes);
    });
  }

  /** Undefined for text that bytes do not tell. */
  static of(text: string, ignoreCase: boolean): Needle | undefined {
    // U+FFFD stands for malformed bytes, half a surrogate pair for half of a character.
    if (text === '' || /[\p{Cs}\ufffd]/u.test(text)) return undefined;
    const bytes = Buffer.from(text, 'utf8');
    // Beyond ASCII, letters have other relatives than the one in the other case.
    if (ignoreCase && !isAscii(bytes)) return undefined;
    return new Needle(text, bytes.subarray(0, LONGEST), ignoreCase);
  }
}

/**
 * Which grams a file has: groups of six bytes at places that four divides. It is asked before the file is searched; it
 * may say yes of what is not there, but never no of what is.
 */
export class GramFilter {
  readonly #table: Int32Array;
  readonly #shift: number;

  private constructor(
    size: number,
    private readonly isAscii: boolean,
  ) {
    let bits = SMALLEST;
    while (2 ** bits < size * BITS_PER_BYTE) bits++;
    this.#table = new Int32Array(2 ** (bits - 5));
    this.#shift = 32 - bits;
  }

  /** The filter of a file. In steps. */
  static *of(bytes: Buffer): Steps<GramFilter> {
    const filter = new GramFilter(bytes.length, isAscii(bytes));
    const aligned = bytes.byteOffset % STRIDE === 0 ? bytes : new Uint8Array(bytes);
    const words = new Int32Array(aligned.buffer, aligned.byteOffset, Math.floor(bytes.length / STRIDE));
    // Of the last word nothing follows but what the length cuts off, which may be the end of a gram.
    const last = words.length - 1;
    for (let from = 0; from < last; from += UNIT) {
      const to = Math.min(from + UNIT, last);
      filter.#add(words, from, to);
      yield (to - from) * COST.byteScanned;
    }
    const end = last * STRIDE;
    if (last >= 0 && end + GRAM <= bytes.length) filter.#set(hashOf(words[last]!, bytes.readUInt16LE(end + STRIDE)));
    return filter;
  }

  /** Bytes that the filter of a file of `size` bytes takes at most. */
  static bytesFor(size: number): number {
    return Math.max(2 ** SMALLEST, size * BITS_PER_BYTE * 2) / 8 + 100;
  }

  mayHold({ phases, ignoreCase }: Needle): boolean {
    if (phases.length === 0 || (ignoreCase && !this.isAscii)) return true;
    for (const hashes of phases) if (this.#hasAll(hashes)) return true;
    return false;
  }

  #add(words: Int32Array, from: number, to: number): void {
    const table = this.#table;
    const shift = this.#shift;
    let word = words[from]!;
    for (let at = from; at < to; at++) {
      const next = words[at + 1]!;
      const hash = hashOf(word, next & 0xffff) >>> shift;
      table[hash >>> 5]! |= 1 << (hash & 31);
      word = next;
    }
  }

  #set(hash: number): void {
    const bit = hash >>> this.#shift;
    this.#table[bit >>> 5]! |= 1 << (bit & 31);
  }

  #hasAll(hashes: Int32Array): boolean {
    const table = this.#table;
    for (let at = 0; at < hashes.length; at++) {
      const hash = hashes[at]! >>> this.#shift;
      if (((table[hash >>> 5]! >>> (hash & 31)) & 1) === 0) return false;
    }
    return true;
  }
}

function hashOf(word: number, half: number): number {
  return Math.imul((word | FOLD) ^ Math.imul(half | FOLD_HALF, MIX), GOLDEN);
}

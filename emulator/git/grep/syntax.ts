import { POSIX_CLASSES } from '../pathspec/wildmatch-bracket.js';

/**
 * Node in the syntax tree of a regular expression. Sets of characters never contain the line feed, because each line is
 * matched separately.
 */
export type Node =
  /**
   * Matches one character whose code point is in `ranges`. These are pairs of first and last code point in ascending
   * order. An empty list matches nothing.
   */
  | { readonly kind: 'set'; readonly ranges: readonly number[] }
  | { readonly kind: 'assert'; readonly at: Assertion }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'any'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly body: Node; readonly min: number; readonly max: number };

export type Assertion = 'line-start' | 'line-end' | 'word-edge' | 'no-word-edge';

const LAST = 0x10ffff;
const WORD = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

const PERL_CLASSES: Readonly<Record<string, readonly number[]>> = {
  d: POSIX_CLASSES.digit!,
  s: [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20],
  w: WORD,
};

const NAMED_CLASSES: Readonly<Record<string, readonly number[]>> = { ...POSIX_CLASSES, ascii: [0, 0x7f], word: WORD };

const CONTROLS: Readonly<Record<string, number>> = { a: 0x07, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b };

/** Error for unsupported syntax inside the parser. `parseSyntax` catches it. */
class Unsupported extends Error {}

/**
 * Parses the part of RE2's syntax that most searches use: characters, `.`, sets, `^ $ \b \B`, groups, `|` and
 * repetitions. Returns undefined for other syntax (flags, `\p`, `\Q`, `\A`). With `ignoreCase`, also returns undefined
 * for negated sets of letters, because V8 and RE2 treat them differently.
 *
 * RE2 must have accepted the expression before. The expression must be short, because the parser recurses into groups.
 */
export function parseSyntax(pattern: string, ignoreCase: boolean): Node | undefined {
  try {
    return new Parser(pattern, ignoreCase).parse();
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

class Parser {
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly ignoreCase: boolean,
  ) {}

  parse(): Node {
    const node = this.#alternatives();
    if (this.#at < this.text.length) throw new Unsupported();
    return node;
  }

  #alternatives(): Node {
    const parts = [this.#sequence()];
    while (this.#accept('|')) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { kind: 'any', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.text.length && !'|)'.includes(this.text[this.#at]!))
      parts.push(this.#repetition(this.#atom()));
    return parts.length === 1 ? parts[0]! : { kind: 'all', parts };
  }

  /**
   * Parses a repetition of `body`: `* + ? {n} {n,} {n,m}`. An optional `?` after it (lazy matching) is ignored, because
   * it does not change which lines match. Returns `body` itself if no repetition follows.
   */
  #repetition(body: Node): Node {
    const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.text.slice(this.#at, this.#at + 16));
    if (match === null) return body;
    this.#at += match[0].length;
    const sign = match[0][0];
    if (sign !== '{')
      return { kind: 'repeat', body, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const min = Number(match[1]);
    const max = match[2] === '' ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3]);
    return { kind: 'repeat', body, min, max };
  }

  #atom(): Node {
    const char = this.#take();
    switch (char) {
      case '(':
        return this.#group();
      case '[':
        return this.#bracket();
      case '.':
        return setOf([0, LAST]);
      case '^':
        return { kind: 'assert', at: 'line-start' };
      case '$':
        return { kind: 'assert', at: 'line-end' };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw new Unsupported();
      default:
        return single(char.codePointAt(0)!);
    }
  }

  #group(): Node {
    const opening = /^\?(?::|P?<\w+>)/.exec(this.text.slice(this.#at));
    if (opening !== null) this.#at += opening[0].length;
    else if (this.text[this.#at] === '?') throw new Unsupported();
    const node = this.#alternatives();
    if (!this.#accept(')')) throw new Unsupported();
    return node;
  }

  #escape(): Node {
    const char = this.#take();
    if (char === 'b' || char === 'B') {
      return { kind: 'assert', at: char === 'b' ? 'word-edge' : 'no-word-edge' };
    }
    const known = this.#perlClass(char);
    return known === undefined ? single(this.#character(char)) : setOf(known);
  }

  #perlClass(char: string): readonly number[] | undefined {
    const ranges = PERL_CLASSES[char.toLowerCase()];
    return ranges === undefined || char in PERL_CLASSES ? ranges : this.#negate(ranges);
  }

  /**
   * Returns the code point of an escape sequence such as `\x41` or `\t`. `char` is the character after the backslash,
   * which has already been consumed.
   */
  #character(char: string): number {
    if (char === 'x') {
      const digits = /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/.exec(this.text.slice(this.#at, this.#at + 8));
      if (digits === null) throw new Unsupported();
      this.#at += digits[0].length;
      return Number.parseInt(digits[1] ?? digits[2]!, 16);
    }
    if (CONTROLS[char] !== undefined) return CONTROLS[char];
    if (/^[!-/:-@[-`{-~]$/.test(char)) return char.charCodeAt(0);
    throw new Unsupported();
  }

  #bracket(): Node {
    const isNegated = this.#accept('^');
    const ranges: number[] = [];
    for (let isFirst = true; isFirst || this.text[this.#at] !== ']'; isFirst = false) {
      const posix = /^\[:(\^?)(\w+):\]/.exec(this.text.slice(this.#at, this.#at + 12));
      if (posix !== null) {
        const named = NAMED_CLASSES[posix[2]!];
        if (named === undefined) throw new Unsupported();
        this.#at += posix[0].length;
        ranges.push(...(posix[1] === '' ? named : this.#negate(named)));
        continue;
      }
      const char = this.#take();
      const escaped = char === '\\' ? this.#take() : undefined;
      const known = escaped === undefined ? undefined : this.#perlClass(escaped);
      if (known !== undefined) {
        ranges.push(...known);
        continue;
      }
      const first = escaped === undefined ? char.codePointAt(0)! : this.#character(escaped);
      ranges.push(first, this.#rangeEnd(first));
    }
    this.#at++;
    return setOf(isNegated ? this.#negate(ranges) : ranges);
  }

  #rangeEnd(first: number): number {
    if (this.text[this.#at] !== '-' || this.text[this.#at + 1] === ']') return first;
    this.#at++;
    const char = this.#take();
    const last = char === '\\' ? this.#character(this.#take()) : char.codePointAt(0)!;
    if (last < first) throw new Unsupported();
    return last;
  }

  #negate(ranges: readonly number[]): number[] {
    const sorted = normalize(ranges);
    const rest: number[] = [];
    let next = 0;
    for (let at = 0; at < sorted.length; at += 2) {
      const [first, last] = [sorted[at]!, sorted[at + 1]!];
      if (this.ignoreCase && hasLetters(first, last)) throw new Unsupported();
      if (first > next) rest.push(next, first - 1);
      next = last + 1;
    }
    if (next <= LAST) rest.push(next, LAST);
    return rest;
  }

  #take(): string {
    const code = this.text.codePointAt(this.#at);
    if (code === undefined) throw new Unsupported();
    const char = String.fromCodePoint(code);
    this.#at += char.length;
    return char;
  }

  #accept(char: string): boolean {
    if (this.text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }
}

function single(code: number): Node {
  return setOf([code, code]);
}

/** Returns the node for a set of characters, without the line feed. `ranges` may be in any order. */
function setOf(ranges: readonly number[]): Node {
  const lines: number[] = [];
  const sorted = normalize(ranges);
  for (let at = 0; at < sorted.length; at += 2) {
    const [first, last] = [sorted[at]!, sorted[at + 1]!];
    if (first < 0x0a) lines.push(first, Math.min(last, 0x09));
    if (last > 0x0a) lines.push(Math.max(first, 0x0b), last);
  }
  return { kind: 'set', ranges: lines };
}

/** Sorts the pairs of first and last code point, and merges adjacent and overlapping pairs. */
function normalize(ranges: readonly number[]): number[] {
  const pairs: [number, number][] = [];
  for (let at = 0; at < ranges.length; at += 2) pairs.push([ranges[at]!, ranges[at + 1]!]);
  pairs.sort((a, b) => a[0] - b[0]);
  const merged: number[] = [];
  for (const [first, last] of pairs) {
    const end = merged.at(-1);
    if (end !== undefined && first <= end + 1) merged[merged.length - 1] = Math.max(end, last);
    else merged.push(first, last);
  }
  return merged;
}

function hasLetters(first: number, last: number): boolean {
  return last >= 0x80 || (first <= 0x5a && last >= 0x41) || (first <= 0x7a && last >= 0x61);
}

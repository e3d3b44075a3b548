import type { ByteString } from './bytes.js';
import { type ByteSet, readBracket } from './wildmatch-bracket.js';

export const MOST_PATTERN_BYTES = 4096;

export interface WildmatchOptions {
  /** `*`, `?` and `[…]` stop at slashes; only `**` between slashes crosses them (Git's WM_PATHNAME). */
  readonly pathname?: boolean;
  readonly ignoreCase?: boolean;
}

/** `*`: any bytes but slashes. `**`: any bytes. `folders`: any number of whole folders, each with its slash. */
type Token = number | ByteSet | 'any' | 'star' | 'starstar' | 'folders';

const SLASH = 0x2f;

/**
 * A compiled pattern of Git's wildmatch (gitignore, "Pattern format"; glob(7)):
 *
 *     ?  *  **  [a-z]  [!a-z]  [^a-z]  [[:alpha:]]  \x
 *
 * With `pathname`, `**` counts only between slashes or at an end: `**\/a`, `a/**`, `a/**\/b`; elsewhere it is `*`.
 * Without, it is `*` too, and both cross slashes. The pattern has to match the whole text. A pattern that is broken
 * (an open bracket, a final backslash, an unknown class) matches nothing.
 *
 * Time is at most pattern times text: of each kind of star only the last one is ever tried again. For `*` that is
 * enough because a slash ends its reach; for `**` because a later one can make up for whatever an earlier one took.
 */
export class Wildmatch {
  readonly #tokens: readonly Token[] | undefined;
  readonly #pathname: boolean;
  readonly #ignoreCase: boolean;
  /** No shorter text matches: a pattern made to try much has to be longer than what it is tried on. */
  readonly #shortest: number;
  /** What every match ends with, when the pattern is one star and this. */
  readonly #suffix: ByteString | undefined;

  constructor(pattern: ByteString, { pathname = false, ignoreCase = false }: WildmatchOptions = {}) {
    this.#pathname = pathname;
    this.#ignoreCase = ignoreCase;
    this.#tokens = parsePattern(pattern, pathname, ignoreCase);
    this.#shortest = this.#tokens?.filter((token) => !isStar(token)).length ?? 0;
    this.#suffix = ignoreCase ? undefined : suffixOf(this.#tokens);
  }

  matches(text: ByteString): boolean {
    if (this.#tokens === undefined || text.length < this.#shortest) return false;
    if (this.#suffix !== undefined) return text.endsWith(this.#suffix);
    return this.#run(this.#tokens, this.#ignoreCase ? lowerCase(text) : text);
  }

  #run(tokens: readonly Token[], text: ByteString): boolean {
    let at = 0;
    let token = 0;
    // Where to go on when what follows the last `*`, or the last `**`, does not fit.
    let star = -1;
    let starAt = 0;
    let deep = -1;
    let deepAt = 0;
    for (;;) {
      const wanted = tokens[token];
      if (wanted === 'star') {
        star = ++token;
        starAt = at;
      } else if (wanted === 'starstar' || wanted === 'folders') {
        deep = ++token;
        deepAt = at;
        star = -1;
      } else if (token === tokens.length ? at === text.length : at < text.length && this.#fits(wanted!, text, at)) {
        if (token === tokens.length) return true;
        // Past a slash an earlier `*` has nothing left to give.
        if (this.#pathname && wanted === SLASH) star = -1;
        token++;
        at++;
      } else if (star >= 0 && starAt < text.length && text.charCodeAt(starAt) !== SLASH) {
        token = star;
        at = ++starAt;
      } else {
        if (deep < 0) return false;
        deepAt = tokens[deep - 1] === 'folders' ? text.indexOf('/', deepAt) + 1 : deepAt + 1;
        if (deepAt === 0 || deepAt > text.length) return false;
        token = deep;
        at = deepAt;
        star = -1;
      }
    }
  }

  #fits(wanted: Token, text: ByteString, at: number): boolean {
    const byte = text.charCodeAt(at);
    if (typeof wanted === 'number') return byte === wanted;
    if (this.#pathname && byte === SLASH) return false;
    return wanted === 'any' || (wanted as ByteSet)[byte] === 1;
  }
}

function parsePattern(pattern: ByteString, pathname: boolean, ignoreCase: boolean): Token[] | undefined {
  if (pattern.length > MOST_PATTERN_BYTES) return undefined;
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; ) {
    const char = pattern[at]!;
    if (char === '*') {
      let end = at + 1;
      while (pattern[end] === '*') end++;
      const token = starToken(pattern, at, end, pathname);
      tokens.push(token);
      at = token === 'folders' ? end + 1 : end;
    } else if (char === '[') {
      const bracket = readBracket(pattern, at, ignoreCase);
      if (!bracket) return undefined;
      tokens.push(bracket.set);
      at = bracket.end;
    } else if (char === '?') {
      tokens.push('any');
      at++;
    } else {
      const isEscape = char === '\\';
      if (isEscape && ++at === pattern.length) return undefined;
      // Git does not fold what is escaped, so that an escaped capital matches nothing.
      tokens.push((ignoreCase && !isEscape ? lowerCase(char) : pattern[at]!).charCodeAt(0));
      at++;
    }
  }
  return tokens;
}

/** What the stars from `start` to `end` mean: two or more are special with `pathname`, and only between slashes. */
function starToken(pattern: ByteString, start: number, end: number, pathname: boolean): Token {
  if (!pathname) return 'starstar';
  const isBounded =
    end - start > 1 &&
    (start === 0 || pattern[start - 1] === '/') &&
    (end === pattern.length || pattern[end] === '/' || pattern.startsWith('\\/', end));
  if (!isBounded) return 'star';
  return pattern[end] === '/' ? 'folders' : 'starstar';
}

/** Whether it may stand for no byte at all; the others stand for one. */
function isStar(token: Token): boolean {
  return token === 'star' || token === 'starstar' || token === 'folders';
}

/** `*x`, `**\/*x`: patterns that only ask how the text ends, which most filters are. */
function suffixOf(tokens: readonly Token[] | undefined): ByteString | undefined {
  if (!tokens) return undefined;
  const start = tokens[0] === 'starstar' ? 1 : tokens[0] === 'folders' && tokens[1] === 'star' ? 2 : 0;
  const rest = tokens.slice(start);
  if (start === 0 || !rest.every((token) => typeof token === 'number')) return undefined;
  return start === 2 && rest.includes(SLASH) ? undefined : String.fromCharCode(...(rest as number[]));
}

function lowerCase(text: ByteString): ByteString {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

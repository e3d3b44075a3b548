import { type ByteString, bytesOf, replaceBytes, sliceBytes } from '../object/bytes.js';
import { type ByteSet, readBracket } from './wildmatch-bracket.js';

export interface WildmatchOptions {
  /** `*`, `?` and `[…]` stop at slashes; only `**` between slashes crosses them (Git's WM_PATHNAME). */
  readonly pathname?: boolean;
  readonly ignoreCase?: boolean;
}

/**
 * One byte, or one of a set; or any number of bytes. `star`: any but slashes. `starstar`: any. `folders`: whole folders,
 * each with its slash. The latter is at the start or after a slash, and never twice in a row.
 */
export type Token = number | ByteSet | 'star' | 'starstar' | 'folders';

const SLASH = 0x2f;
export const ANY: ByteSet = new Uint8Array(256).fill(1);
export const ANY_BUT_SLASH: ByteSet = ANY.map((_, byte) => (byte === SLASH ? 0 : 1));

/**
 * The tokens of a pattern of Git's wildmatch (gitignore, "Pattern format"; glob(7)):
 *
 *     ?  *  **  [a-z]  [!a-z]  [^a-z]  [[:alpha:]]  \x
 *
 * With `pathname`, `**` counts only between slashes or at an end: `**\/a`, `a/**`, `a/**\/b`; elsewhere it is `*`.
 * Without, it is `*` too, and both cross slashes. The pattern has to match the whole text. With `ignoreCase` the text
 * has to be in lower case. Undefined for a pattern that is broken (an open bracket, a final backslash, an unknown
 * class): it matches nothing.
 */
export function parseWildmatch(
  pattern: ByteString,
  { pathname = false, ignoreCase = false }: WildmatchOptions = {},
): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < pattern.length; ) {
    const char = pattern[at]!;
    if (char === '*') {
      let end = at + 1;
      while (pattern[end] === '*') end++;
      const token = starToken(pattern, at, end, pathname);
      // Folders upon folders are folders.
      if (token !== 'folders' || tokens.at(-1) !== token) tokens.push(token);
      at = token === 'folders' ? end + 1 : end;
    } else if (char === '[') {
      const bracket = readBracket(pattern, at, ignoreCase);
      if (!bracket) return undefined;
      if (pathname) bracket.set[SLASH] = 0;
      tokens.push(bracket.set);
      at = bracket.end;
    } else if (char === '?') {
      tokens.push(pathname ? ANY_BUT_SLASH : ANY);
      at++;
    } else {
      const isEscape = char === '\\';
      if (isEscape && ++at === pattern.length) return undefined;
      const byte = sliceBytes(pattern, at, at + 1);
      // Git does not fold what is escaped, so that an escaped capital matches nothing.
      tokens.push((ignoreCase && !isEscape ? foldCase(byte) : byte).charCodeAt(0));
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

/** Capitals of ASCII as small letters, as Git folds them. */
export function foldCase(text: ByteString): ByteString {
  return replaceBytes(text, /[A-Z]+/g, (capitals) => bytesOf(capitals.toLowerCase()));
}

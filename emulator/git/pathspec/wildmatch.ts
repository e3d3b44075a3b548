import { type ByteString, bytesOf, replaceBytes, sliceBytes } from '../object/bytes.js';
import { type ByteSet, readBracket } from './wildmatch-bracket.js';

export interface WildmatchOptions {
  /**
   * If true, `*`, `?` and `[…]` do not match slashes (Git's WM_PATHNAME). `**` still does if it stands between slashes.
   */
  readonly pathname?: boolean;
  readonly ignoreCase?: boolean;
}

/**
 * Token of a parsed pattern:
 *
 * - a number: matches this byte.
 * - `ByteSet`: matches one byte of the set.
 * - `star`: matches any number of bytes except slashes.
 * - `starstar`: matches any number of bytes.
 * - `folders`: matches any number of folder names, each with its slash. It occurs only at the start of a pattern or
 *   after a slash, and never twice in a row.
 */
export type Token = number | ByteSet | 'star' | 'starstar' | 'folders';

const SLASH = 0x2f;
export const ANY: ByteSet = new Uint8Array(256).fill(1);
export const ANY_BUT_SLASH: ByteSet = ANY.map((_, byte) => (byte === SLASH ? 0 : 1));

/**
 * Parses a pattern of Git's wildmatch (gitignore, "Pattern format"; glob(7)). The pattern must match the whole text:
 *
 *     ?  *  **  [a-z]  [!a-z]  [^a-z]  [[:alpha:]]  \x
 *
 * With `pathname`, `**` is special only between slashes or at an end: `**\/a`, `a/**`, `a/**\/b`. Elsewhere it equals
 * `*`. Without `pathname`, it always equals `*`, and both match slashes.
 *
 * With `ignoreCase`, the text must be in lower case. Returns undefined for an invalid pattern, which matches nothing. A
 * pattern with an open bracket, a final backslash or an unknown class is invalid.
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
      // Two consecutive `folders` tokens match the same paths as one, so the second is left out.
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
      // As in Git, an escaped capital is not converted to lower case. With `ignoreCase` it matches nothing, because the
      // compared text is in lower case.
      tokens.push((ignoreCase && !isEscape ? foldCase(byte) : byte).charCodeAt(0));
      at++;
    }
  }
  return tokens;
}

/**
 * Returns the token for the stars from `start` to `end` (exclusive) in the pattern. With `pathname`, they match slashes
 * only if there are two or more, and only between slashes or at an end of the pattern.
 */
function starToken(pattern: ByteString, start: number, end: number, pathname: boolean): Token {
  if (!pathname) return 'starstar';
  const isBounded =
    end - start > 1 &&
    (start === 0 || pattern[start - 1] === '/') &&
    (end === pattern.length || pattern[end] === '/' || pattern.startsWith('\\/', end));
  if (!isBounded) return 'star';
  return pattern[end] === '/' ? 'folders' : 'starstar';
}

/** Converts ASCII capitals to lower case, and leaves all other bytes unchanged. Git ignores case in this way. */
export function foldCase(text: ByteString): ByteString {
  return replaceBytes(text, /[A-Z]+/g, (capitals) => bytesOf(capitals.toLowerCase()));
}

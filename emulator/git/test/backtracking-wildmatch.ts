import type { ByteString } from '../object/bytes.js';
import { foldCase, parseWildmatch, type Token, type WildmatchOptions } from '../pathspec/wildmatch.js';

const SLASH = 0x2f;

/**
 * Second implementation of Git's wildmatch, with which tests compare the product. It uses backtracking, and retries
 * only the last star of each kind.
 */
export class BacktrackingWildmatch {
  readonly #tokens: readonly Token[] | undefined;

  constructor(
    pattern: ByteString,
    private readonly options: WildmatchOptions = {},
  ) {
    this.#tokens = parseWildmatch(pattern, options);
  }

  matches(text: ByteString): boolean {
    return this.#tokens !== undefined && this.#run(this.#tokens, this.options.ignoreCase ? foldCase(text) : text);
  }

  #run(tokens: readonly Token[], text: ByteString): boolean {
    let at = 0;
    let token = 0;
    // Positions at which matching continues after a mismatch, in the pattern and in the text. `star` is behind the last
    // `*`, and `deep` is behind the last `**`. -1 if none.
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
      } else if (token === tokens.length ? at === text.length : at < text.length && fits(wanted!, text, at)) {
        if (token === tokens.length) return true;
        // Forget an earlier `*`, because it cannot match a slash.
        if (this.options.pathname && wanted === SLASH) star = -1;
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
}

function fits(wanted: Token, text: ByteString, at: number): boolean {
  const byte = text.charCodeAt(at);
  return typeof wanted === 'number' ? byte === wanted : (wanted as Uint8Array)[byte] === 1;
}

/** Part of a text from a client. It is either unchanged text, or a visible mark that replaces hidden characters. */
export interface TextPart {
  readonly text: string;
  /** Name of the hidden character that the mark replaces, such as `U+001B`; absent for unchanged text. */
  readonly stands?: string;
}

/**
 * Characters that are invisible or change the appearance of other characters. These are controls (Unicode 16, section
 * 23.1), bidirectional formatting characters (UAX #9, section 2), zero-width characters, line separators, tags and
 * unpaired surrogates. A joiner after a non-ASCII character is not included, because Persian words and emoji need it.
 */
const UNSEEN =
  /(?:[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<=^|\p{ASCII})[\u200c\u200d]|\p{Cs})+/gu;

/**
 * Characters of `UNSEEN` except tabs and line feeds. It is used for text whose tabs and line feeds are visible as
 * layout.
 */
const UNSEEN_IN_LINES = new RegExp(UNSEEN.source.replace('\\p{Cc}', '\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f'), UNSEEN.flags);

/**
 * Splits a text into unchanged parts and marks of hidden characters. If `hasLines` is true, tabs and line feeds get no
 * marks.
 */
export function partsOf(text: string, { hasLines = false } = {}): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(hasLines ? UNSEEN_IN_LINES : UNSEEN)) {
    if (index > end) parts.push({ text: text.slice(end, index) });
    const characters = [...found];
    const stands = characters.slice(0, MAX_NAMED).map(nameOf).join(' ');
    parts.push({
      text: characters.map(markOf).join(''),
      stands: characters.length > MAX_NAMED ? `${stands} …` : stands,
    });
    end = index + found.length;
  }
  if (end < text.length || parts.length === 0) parts.push({ text: text.slice(end) });
  return parts;
}

/**
 * Replaces the hidden characters of a text by marks and returns it as a string. It is used for HTML attributes, which
 * cannot contain elements.
 */
export function markedText(text: string): string {
  return partsOf(text)
    .map((part) => part.text)
    .join('');
}

/** Returns the first `max` UTF-16 code units of a text. Returns one less if a surrogate pair would be split. */
export function beginningOf(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? max - 1 : max);
}

const MAX_NAMED = 8;

/**
 * Returns the visible mark of a hidden character. For ASCII, it is a Control Picture (U+2400 …); otherwise, it is the
 * name of the character.
 */
function markOf(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `⟦${nameOf(character)}⟧`;
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * Returns true if a text contains characters that a reader cannot see. With `hasLines`, tabs and line feeds are not
 * counted, because they are visible as layout.
 */
export function hasUnseen(text: string, { hasLines = false } = {}): boolean {
  return text.search(hasLines ? UNSEEN_IN_LINES : UNSEEN) >= 0;
}

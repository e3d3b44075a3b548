/** A part of a text: as it is, or as marks in the place of characters that do not show themselves. */
export interface TextPart {
  readonly text: string;
  /** What the marks stand for: `U+001B`. */
  readonly stands?: string;
}

/**
 * Characters that are not seen, or change how those around them are seen: controls (Unicode 16, 23.1), format characters
 * of bidirectional text (UAX #9, 2), what has no width, separators of lines, tags, and halves of a pair. A joiner is left
 * where it belongs: behind a character that is not ASCII, as in Persian words and emoji.
 */
const UNSEEN =
  /(?:[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<=^|\p{ASCII})[\u200c\u200d]|\p{Cs})+/gu;

/** As `UNSEEN`, where lines and tabs show themselves. */
const UNSEEN_IN_LINES = new RegExp(UNSEEN.source.replace('\\p{Cc}', '\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f'), UNSEEN.flags);

/** The parts of a text; `hasLines`: with line feeds and tabs as they are. */
export function partsOf(text: string, { hasLines = false } = {}): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(hasLines ? UNSEEN_IN_LINES : UNSEEN)) {
    if (index > end) parts.push({ text: text.slice(end, index) });
    const characters = [...found];
    const stands = characters.slice(0, MOST_NAMED).map(nameOf).join(' ');
    parts.push({
      text: characters.map(markOf).join(''),
      stands: characters.length > MOST_NAMED ? `${stands} …` : stands,
    });
    end = index + found.length;
  }
  if (end < text.length || parts.length === 0) parts.push({ text: text.slice(end) });
  return parts;
}

/** A text with its marks, where no element can tell them from it, as in a tooltip. */
export function markedText(text: string): string {
  return partsOf(text)
    .map((part) => part.text)
    .join('');
}

/** The first `most` UTF-16 units of a text; no pair is cut in two. */
export function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

const MOST_NAMED = 8;

/** Control Pictures (U+2400 …) for ASCII; for others their name. */
function markOf(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `⟦${nameOf(character)}⟧`;
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Whether something in a text does not show itself. */
export function hasUnseen(text: string, { hasLines = false } = {}): boolean {
  return text.search(hasLines ? UNSEEN_IN_LINES : UNSEEN) >= 0;
}

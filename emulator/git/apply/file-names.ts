import { isSpace } from '../diff/white-space.js';
import {
  type ByteString,
  byteOf,
  bytesIn,
  bytesOf,
  concatBytes,
  NO_BYTES,
  replaceBytes,
  SLASH,
  sliceBytes,
} from '../object/bytes.js';
import { type LineRest, MAX_LINE_BYTES } from './line-reader.js';

// Parses file names in patch headers. Each function corresponds to one in Git's apply.c. A carriage return always ends
// a name, and a NUL ends any text. Which other characters end a name depends on the function.

const LETTERS = new Map([...'abtnvfr"\\'].map((letter, index) => [letter, bytesOf('\x07\b\t\n\v\f\r"\\'[index]!)]));
const OCTAL = /^[0-3][0-7]{2}$/;
const LINE_FEED = bytesOf('\n');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a file name in double quotes with C escapes, as Git writes unusual names (`unquote_c_style`). Returns the name
 * and the position after its closing quote; undefined if no quoted name begins at `start`.
 */
function unquoteName(bytes: Buffer, start: number): { name: ByteString; end: number } | undefined {
  if (bytes[start] !== QUOTE) return undefined;
  const max = Math.min(bytes.length, start + MAX_LINE_BYTES);
  let name = NO_BYTES;
  let from = start + 1;
  for (let at = from; at < max; at++) {
    const byte = bytes[at];
    if (byte === 0) return undefined;
    if (byte !== QUOTE && byte !== BACKSLASH) continue;
    if (at > from) name = concatBytes(name, bytesIn(bytes, from, at));
    if (byte === QUOTE) return { name: untilNul(name), end: at + 1 };
    const escaped = LETTERS.get(String.fromCharCode(bytes[at + 1] ?? 0));
    if (escaped === undefined) {
      const octal = bytes.toString('latin1', at + 1, at + 4);
      if (!OCTAL.test(octal)) return undefined;
      name = concatBytes(name, byteOf(Number.parseInt(octal, 8)));
      at += 3;
    } else {
      name = concatBytes(name, escaped);
      at += 1;
    }
    from = at + 1;
  }
  return undefined;
}

/**
 * Parses the file name in a line of a Git header and removes its first `strip` folders, such as `a/` (Git's
 * `find_name`). Returns undefined if the line has no name.
 */
export function readName(line: LineRest, strip: number, endsAtTab: boolean): ByteString | undefined {
  return quotedName(line, strip) ?? plainName(line.text, strip, { endsAtTab });
}

/**
 * Parses the file name in a `---` or `+++` line written by diff(1) (Git's `find_name_traditional`). `other` is the name
 * from the opposite line. Returns `other` if this name only appends characters to it, as `file.orig` does.
 */
export function readTraditionalName(line: LineRest, strip: number, other?: ByteString): ByteString | undefined {
  const { text } = line;
  return quotedName(line, strip) ?? plainName(text, strip, { endsAtTab: true, end: startOfDate(text), other });
}

/** Parses a file name in double quotes and removes its first `strip` folders. Corresponds to Git's `find_name_gnu`. */
function quotedName({ bytes, start }: LineRest, strip: number): ByteString | undefined {
  let name = unquoteName(bytes, start)?.name;
  for (let left = strip; left > 0 && name !== undefined; left--) {
    const slash = name.indexOf('/');
    name = slash < 0 ? undefined : sliceBytes(name, slash + 1);
  }
  return name === undefined ? undefined : squashSlashes(name);
}

interface NameEnd {
  readonly endsAtTab: boolean;
  /**
   * Position at which the name must end. If undefined, the name ends at a carriage return. If `endsAtTab` is true, it
   * ends at a tab too.
   */
  readonly end?: number | undefined;
  readonly other?: ByteString | undefined;
}

/** Parses a file name without quotes. Corresponds to Git's `find_name_common`. */
function plainName(text: ByteString, strip: number, { endsAtTab, end, other }: NameEnd): ByteString | undefined {
  let start = strip === 0 ? 0 : -1;
  let left = strip;
  let at = 0;
  for (; at < (end ?? text.length); at++) {
    const letter = text[at]!;
    if (end === undefined && (letter === '\r' || (letter === '\t' && endsAtTab))) break;
    if (letter === '/' && --left === 0) start = at + 1;
  }
  const name = start < 0 ? NO_BYTES : sliceBytes(text, start, at);
  const isMore = other !== undefined && other.length < name.length && name.startsWith(other);
  if (name === '' || isMore) return other;
  return squashSlashes(untilNul(name));
}

const DATE = /(?:\d\d)?\d\d-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?)?(?: [+-]\d\d:?\d\d)?$/;

/**
 * Returns the position of the white space before a date at the end of the line; undefined if there is no date.
 * Corresponds to Git's `diff_timestamp_len`.
 */
function startOfDate(text: ByteString): number | undefined {
  const date = DATE.exec(text);
  if (!date) return undefined;
  let at = date.index;
  if (text[at - 1] === '\t') return at - 1;
  while (text[at - 1] === ' ') at--;
  return at < date.index ? at : undefined;
}

/**
 * Returns the file name in a `diff --git a/<name> b/<name>` line (Git's `git_header_name`). A name may contain spaces,
 * so the line is split where both halves are equal.
 *
 * Returns undefined if no split gives two equal names. This is usual for renames, which state their names in separate
 * lines.
 */
export function commonName(line: LineRest, strip: number): ByteString | undefined {
  const { text, bytes, start } = line;
  if (text.startsWith('"')) return nameQuotedFirst(line, strip);
  const from = skipPrefix(text, strip);
  if (from === undefined) return undefined;
  const quote = text.indexOf('"', from);
  if (quote >= 0) {
    const second = withoutPrefix(unquoteName(bytes, start + quote)?.name, strip);
    if (second === undefined || second.length >= quote - from || !text.startsWith(second, from)) return undefined;
    return isSpace(text.charCodeAt(from + second.length)) ? second : undefined;
  }
  let slash = -1;
  for (let at = nextBlank(text, from); at >= 0; at = nextBlank(text, at + 1)) {
    if (text[at + 1] === '\0') return undefined;
    if (strip > 0 && slash <= at) slash = text.indexOf('/', at + 1);
    if (strip > 0 ? slash <= at + 1 : text[at + 1] === '/') return undefined;
    const second = strip > 0 ? slash + 1 : at + 1;
    // Only halves of equal length are compared; halves of different lengths cannot be equal.
    if (second + at - from !== text.length) continue;
    const name = sliceBytes(text, from, at);
    if (text.endsWith(name)) return untilNul(name);
  }
  return undefined;
}

function nameQuotedFirst({ text, bytes, start }: LineRest, strip: number): ByteString | undefined {
  const first = unquoteName(bytes, start);
  const name = withoutPrefix(first?.name, strip);
  if (first === undefined || name === undefined) return undefined;
  let at = first.end;
  const end = start + text.length;
  while (at < end && isSpace(bytes[at]!)) at++;
  if (at >= end) return undefined;
  // Git includes the line feed in an unquoted second name, which therefore never equals the first name. The appended
  // line feed makes this function behave like Git.
  const second = unquoteName(bytes, at)?.name ?? concatBytes(sliceBytes(text, at - start), LINE_FEED);
  return withoutPrefix(second, strip) === name ? name : undefined;
}

/**
 * Returns the position after the prefix of a name, such as `a/` (Git's `skip_tree_prefix`). Returns undefined if the
 * name has no prefix or is absolute.
 */
function skipPrefix(text: ByteString, strip: number): number | undefined {
  if (strip === 0) return text.startsWith('/') ? undefined : 0;
  const slash = text.indexOf('/');
  return slash > 0 ? slash + 1 : undefined;
}

function withoutPrefix(text: ByteString | undefined, strip: number): ByteString | undefined {
  const from = text === undefined ? undefined : skipPrefix(text, strip);
  return from === undefined ? undefined : sliceBytes(text!, from);
}

function nextBlank(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === ' ' || text[at] === '\t') return at;
  return -1;
}

function squashSlashes(name: ByteString): ByteString {
  return replaceBytes(name, /\/{2,}/g, () => SLASH);
}

function untilNul(name: ByteString): ByteString {
  const end = name.indexOf('\0');
  return end < 0 ? name : sliceBytes(name, 0, end);
}

import type { Oid } from './object.js';

/**
 * String in which each character (0 to 255) stands for one byte, as in the encoding `latin1`.
 *
 * Git names paths, refs and tree entries by bytes, not by text. The code in `git/` and `smart-http/` keeps these names
 * as byte strings. No byte is lost, and `<` compares the names in Git's byte order. Only `textOf` and `bytesOf` convert
 * to and from text, where data leaves or enters these folders.
 */
export type ByteString = string & { readonly [bytes]: true };

declare const bytes: unique symbol;

/** Empty byte string. Used as a path, it names the root folder. */
export const NO_BYTES = '' as ByteString;
/** Slash as a byte string (one character per byte): the separator of paths and ref names. */
export const SLASH = '/' as ByteString;

/** Returns the bytes of `buffer` from `start` to `end` (exclusive) as a byte string. */
export function bytesIn(buffer: Buffer, start = 0, end = buffer.length): ByteString {
  return buffer.toString('latin1', start, end) as ByteString;
}

/** Concatenates two or three byte strings (one character per byte). */
export function concatBytes(first: ByteString | Oid, second: ByteString, third?: ByteString): ByteString {
  return (third === undefined ? first + second : first + second + third) as ByteString;
}

/** Returns a part of a byte string (one character per byte), as `String.prototype.slice` does. */
export function sliceBytes(value: ByteString, start: number, end?: number): ByteString {
  return value.slice(start, end) as ByteString;
}

/** Splits a byte string (one character per byte) at each `separator`, as `String.prototype.split` does. */
export function splitBytes(value: ByteString, separator: string): ByteString[] {
  return value.split(separator) as ByteString[];
}

/** Joins byte strings (one character per byte) with `separator` between them, as `Array.prototype.join` does. */
export function joinBytes(parts: readonly ByteString[], separator: string): ByteString {
  return parts.join(separator) as ByteString;
}

/** Returns the text of a byte string, decoded as UTF-8. Malformed sequences become U+FFFD, as `git log` prints them. */
export function textOf(bytes: ByteString): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Returns the UTF-8 encoding of a text as a byte string (one character per byte). */
export function bytesOf(text: string): ByteString {
  return (isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')) as ByteString;
}

/** Returns true if a byte string (one character per byte) is well-formed UTF-8. */
export function isUtf8(bytes: ByteString): boolean {
  return isAscii(bytes) || bytesOf(textOf(bytes)) === bytes;
}

export function isAscii(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    if (value.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}

/**
 * Template tag that returns a byte string (one character per byte). The literal parts must be ASCII. Text must be
 * encoded with `bytesOf` before it is inserted.
 */
export function latin1(literals: TemplateStringsArray, ...values: readonly (ByteString | Oid | number)[]): ByteString {
  let all = literals[0]!;
  for (let index = 0; index < values.length; index++) all += values[index]! + literals[index + 1]!;
  return all as ByteString;
}

/** Returns a byte string that consists of one byte with the value `code`. */
export function byteOf(code: number): ByteString {
  return String.fromCharCode(code) as ByteString;
}

/** Replaces the matches of `pattern` in a byte string (one character per byte), as `String.prototype.replace` does. */
export function replaceBytes(
  value: ByteString,
  pattern: RegExp,
  replace: (match: string, group: string) => ByteString,
): ByteString {
  return value.replace(pattern, replace) as ByteString;
}

/** Returns true if `bytes` contains the ASCII text `text` at offset `start`. */
export function startsWithAt(bytes: Buffer, start: number, text: string): boolean {
  if (start + text.length > bytes.length) return false;
  for (let at = 0; at < text.length; at++) {
    if (bytes[start + at] !== text.charCodeAt(at)) return false;
  }
  return true;
}

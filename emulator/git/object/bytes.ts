import type { Oid } from './object.js';

/**
 * A string with one character (0..255) per byte, as `latin1` decodes it.
 *
 * Git names paths, refs and tree entries by bytes, not by text. Inside `git/` and `smart-http/` they
 * are kept in this form: nothing is lost, and `<` on two of them is Git's own byte order. Text leaves
 * and enters at the edge, through `textOf` and `bytesOf`, and nowhere else.
 */
export type ByteString = string & { readonly [bytes]: true };

declare const bytes: unique symbol;

/** The empty byte string. As a path, the root folder. */
export const NO_BYTES = '' as ByteString;
/** The separator of paths and ref names. */
export const SLASH = '/' as ByteString;

/** The byte string of `buffer` from `start` to `end`. */
export function bytesIn(buffer: Buffer, start = 0, end = buffer.length): ByteString {
  return buffer.toString('latin1', start, end) as ByteString;
}

/** The parts behind each other. */
export function concatBytes(first: ByteString | Oid, second: ByteString, third?: ByteString): ByteString {
  return (third === undefined ? first + second : first + second + third) as ByteString;
}

/** As `String.prototype.slice`. */
export function sliceBytes(value: ByteString, start: number, end?: number): ByteString {
  return value.slice(start, end) as ByteString;
}

/** As `String.prototype.split`. */
export function splitBytes(value: ByteString, separator: string): ByteString[] {
  return value.split(separator) as ByteString[];
}

/** As `Array.prototype.join`. */
export function joinBytes(parts: readonly ByteString[], separator: string): ByteString {
  return parts.join(separator) as ByteString;
}

/** UTF-8 text of a byte string; malformed sequences become U+FFFD, as `git log` prints them. */
export function textOf(bytes: ByteString): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

/** The byte string of a text or an ASCII literal: its UTF-8 encoding, one character per byte. */
export function bytesOf(text: string): ByteString {
  return (isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')) as ByteString;
}

/** Whether every byte sequence of `bytes` is well-formed UTF-8. */
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
 * The byte string of a template: its literal parts are ASCII, what is put between them are byte strings, ids and
 * numbers. Text is not taken: it has to become bytes first.
 */
export function latin1(literals: TemplateStringsArray, ...values: readonly (ByteString | Oid | number)[]): ByteString {
  let all = literals[0]!;
  for (let index = 0; index < values.length; index++) all += values[index]! + literals[index + 1]!;
  return all as ByteString;
}

/** One byte. */
export function byteOf(code: number): ByteString {
  return String.fromCharCode(code) as ByteString;
}

/** As `String.prototype.replace`. */
export function replaceBytes(
  value: ByteString,
  pattern: RegExp,
  replace: (match: string, group: string) => ByteString,
): ByteString {
  return value.replace(pattern, replace) as ByteString;
}

/** Returns true if the bytes at `start` begin with an ASCII text. */
export function startsWithAt(bytes: Buffer, start: number, text: string): boolean {
  if (start + text.length > bytes.length) return false;
  for (let at = 0; at < text.length; at++) {
    if (bytes[start + at] !== text.charCodeAt(at)) return false;
  }
  return true;
}

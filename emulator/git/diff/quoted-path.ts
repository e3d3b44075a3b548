import type { ByteString } from '../object/bytes.js';

const LETTERS: Readonly<Record<string, string>> = {
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '"': '"',
  '\\': '\\',
};

/** Bytes that Git escapes when it prints a path (`core.quotePath` is on, which is Git's default). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the bytes meant
const UNUSUAL = /[\x00-\x1f"\\\x7f-\xff]/g;

/**
 * Returns a path in the ASCII form in which Git prints it. A path that contains an unusual byte is put in double
 * quotes, with C escapes for these bytes.
 */
export function quotePath(path: ByteString): string {
  const escaped = path.replace(UNUSUAL, (byte) => {
    return `\\${LETTERS[byte] ?? byte.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return escaped === path ? path : `"${escaped}"`;
}

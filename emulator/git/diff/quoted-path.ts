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

/** Bytes that Git escapes when it prints a path. Git's default setting is `core.quotePath` on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the bytes meant
const UNUSUAL = /[\x00-\x1f"\\\x7f-\xff]/g;

/**
 * Returns a path as Git prints it, in ASCII. If the path contains unusual bytes, it is put in double quotes, and these
 * bytes become C escapes.
 */
export function quotePath(path: ByteString): string {
  const escaped = path.replace(UNUSUAL, (byte) => {
    return `\\${LETTERS[byte] ?? byte.charCodeAt(0).toString(8).padStart(3, '0')}`;
  });
  return escaped === path ? path : `"${escaped}"`;
}

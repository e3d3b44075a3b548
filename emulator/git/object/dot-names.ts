import { type ByteString, sliceBytes } from './bytes.js';

/**
 * File names that Git treats specially, without their leading dot. Windows (NTFS) and macOS (HFS+) also open these
 * files by other spellings, which the functions below recognize.
 *
 * `short` is the start of the short name (8.3 name) that NTFS uses if the names `~1` to `~4` are taken. It is undefined
 * for `.git`, because Git does not check such a name for it.
 */
const DOT_NAMES = {
  git: { name: 'git', short: undefined },
  gitmodules: { name: 'gitmodules', short: 'gi7eba' },
  gitignore: { name: 'gitignore', short: 'gi250a' },
  gitattributes: { name: 'gitattributes', short: 'gi7d29' },
  mailmap: { name: 'mailmap', short: 'maba30' },
} as const;

export type DotName = keyof typeof DOT_NAMES;

/** Returns true if NTFS or HFS+ may open the special file `wanted` (such as `.git`) when asked for the file `name`. */
export function isDotName(name: ByteString, wanted: DotName): boolean {
  return maySpellDotName(name) && (isNtfsDotName(name, wanted) || isHfsDotName(name, wanted));
}

/**
 * Returns true if Windows may open the special file `wanted` by `name` or by a part of `name` after a backslash.
 * Windows reads a backslash as a folder separator.
 */
export function hidesDotName(name: ByteString, wanted: DotName): boolean {
  if (isDotName(name, wanted)) return true;
  for (let at = name.indexOf('\\'); at >= 0; at = name.indexOf('\\', at + 1)) {
    if (isNtfsDotName(sliceBytes(name, at + 1), wanted)) return true;
  }
  return false;
}

/**
 * Returns false if `name` cannot be a spelling of any special file; true means that it may be one. This check is fast
 * and rules out most names: it looks only at the first two bytes and at the tilde of short names.
 */
function maySpellDotName(name: ByteString): boolean {
  // The pattern matches a dot followed by the first letter of a special name. It also matches the first UTF-8 byte of
  // the code points that HFS+ ignores.
  if (/^(?:\.[gGmM\xe2\xef]|[\xe2\xef])/.test(name)) return true;
  const tilde = name.indexOf('~');
  return tilde >= 0 && tilde < 7;
}

/**
 * Returns true if NTFS reads `name` as the special file `wanted`.
 *
 * - NTFS ignores case, and spaces and dots at the end of a name.
 * - NTFS reads `:` as the start of a stream name, which is not part of the file name.
 * - A short name (8.3 name) is the first six characters followed by `~1` to `~4`, or a hash followed by `~` and a
 *   number.
 */
function isNtfsDotName(name: ByteString, wanted: DotName): boolean {
  const { name: word, short } = DOT_NAMES[wanted];
  // When checking for `.git`, Git also treats a backslash as the end of the name.
  const ends = wanted === 'git' ? /[:\\]/ : /:/;
  const end = name.search(ends);
  const plain = (end < 0 ? name : name.slice(0, end)).replace(/[ .]*$/, '').toLowerCase();
  if (plain === `.${word}`) return true;
  if (short === undefined) return plain === `${word}~1`;
  if (plain.length !== 8) return false;
  if (plain.startsWith(word.slice(0, 6)) && /^~[1-4]$/.test(plain.slice(6))) return true;
  const tilde = plain.indexOf('~');
  return tilde >= 0 && short.startsWith(plain.slice(0, tilde)) && /^~[1-9][0-9]*$/.test(plain.slice(tilde));
}

/**
 * Code points that the macOS file system HFS+ ignores in file names: joiners, direction marks, shaping controls, and
 * the byte order mark.
 */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function isHfsDotName(name: ByteString, wanted: DotName): boolean {
  // An ASCII name can differ only in case on HFS+. `isNtfsDotName` already ignores case.
  if (!/[\x80-\xff]/.test(name)) return false;
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text.replace(HFS_IGNORED, '').toLowerCase() === `.${DOT_NAMES[wanted].name}`;
}

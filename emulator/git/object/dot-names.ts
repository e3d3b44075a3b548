import { type ByteString, sliceBytes } from './bytes.js';

/**
 * Files that mean something to Git, in every spelling by which a file system of Windows (NTFS) or macOS (HFS+)
 * would open them. `short` is the 8.3 name NTFS falls back to when the regular ones are taken; `.git` has none.
 */
const DOT_NAMES = {
  git: { name: 'git', short: undefined },
  gitmodules: { name: 'gitmodules', short: 'gi7eba' },
  gitignore: { name: 'gitignore', short: 'gi250a' },
  gitattributes: { name: 'gitattributes', short: 'gi7d29' },
  mailmap: { name: 'mailmap', short: 'maba30' },
} as const;

export type DotName = keyof typeof DOT_NAMES;

/** Whether a file system may take the path component `name` for `.git`, `.gitmodules` and so on. */
export function isDotName(name: ByteString, wanted: DotName): boolean {
  return maySpellDotName(name) && (isNtfsDotName(name, wanted) || isHfsDotName(name, wanted));
}

/** As `isDotName`, counting what follows a backslash too: a folder separator to Windows. */
export function hidesDotName(name: ByteString, wanted: DotName): boolean {
  if (isDotName(name, wanted)) return true;
  for (let at = name.indexOf('\\'); at >= 0; at = name.indexOf('\\', at + 1)) {
    if (isNtfsDotName(sliceBytes(name, at + 1), wanted)) return true;
  }
  return false;
}

/** A cheap look that lets nearly every name pass: the first two bytes, and the tilde of short names. */
function maySpellDotName(name: ByteString): boolean {
  // A dot and the first letter, or the lead bytes of what HFS+ ignores.
  if (/^(?:\.[gGmM\xe2\xef]|[\xe2\xef])/.test(name)) return true;
  const tilde = name.indexOf('~');
  return tilde >= 0 && tilde < 7;
}

/**
 * NTFS ignores case, spaces and dots at the end, and reads `:` as the start of a stream's name. A short name is
 * the first six characters and `~1` to `~4`, or a hash and `~` with a digit.
 */
function isNtfsDotName(name: ByteString, wanted: DotName): boolean {
  const { name: word, short } = DOT_NAMES[wanted];
  // For `.git` Git takes `\` as the end of the name as well.
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

/** Code points that HFS+ ignores in names: joiners, direction marks, shaping controls, the byte order mark. */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function isHfsDotName(name: ByteString, wanted: DotName): boolean {
  // In ASCII HFS+ ignores only the case, as NTFS does.
  if (!/[\x80-\xff]/.test(name)) return false;
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text.replace(HFS_IGNORED, '').toLowerCase() === `.${DOT_NAMES[wanted].name}`;
}

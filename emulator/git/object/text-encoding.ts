import iconv from 'iconv-lite';
import { type ByteString, bytesOf, isAscii } from './bytes.js';

const UTF8_LABEL = /^utf-?8$/i;
/**
 * Pattern for encoding names that are refused. Some of these encodings are not supersets of ASCII, so decoding would
 * change the header lines of a commit. Others are codecs of the package iconv-lite that are not text encodings.
 */
const NOT_ASCII_BASED = /^(?:utf|ucs|cesu|unicode|binary|base64|hex|internal)/;
const ISO_2022_JP = /^(?:csiso2022jp|iso-?2022-?jp)$/i;

/**
 * Characters that Git decodes differently from iconv-lite and `TextDecoder`. Git uses the iconv of glibc; the others
 * use Microsoft's tables. Each key is the character of Microsoft's table, its value the character of glibc.
 */
const JIS = {
  '\uff5e': '\u301c',
  '\u2225': '\u2016',
  '\uffe0': '\xa2',
  '\uffe1': '\xa3',
  '\uff0d': '\u2212',
  '\uffe2': '\xac',
};
/**
 * Maximum size in bytes of a commit whose encoding is converted. Larger commits are not converted, because a conversion
 * cannot yield and would delay other requests.
 */
const MAX_BYTES = 256 * 1024;

interface Variant {
  readonly labels: RegExp;
  readonly characters?: Readonly<Record<string, string>>;
  /**
   * True if the encoding allows bytes from 0x80 on only in pairs of bytes from 0xa1 to 0xfe. The check is needed
   * because iconv-lite accepts other bytes too.
   */
  readonly isOfPairs?: boolean;
}

/** Encodings for which the package iconv-lite differs from the iconv of glibc, which Git uses, and the differences. */
const VARIANTS: readonly Variant[] = [
  { labels: /^(?:shift[-_]jis|sjis|ms_kanji|csshiftjis)$/i, characters: { ...JIS, '\\': '\xa5', '~': '\u203e' } },
  { labels: /^(?:euc-?jp|cseucpkdfmtjapanese|ujis)$/i, characters: JIS },
  { labels: ISO_2022_JP, characters: JIS },
  {
    labels: /^(?:gb2312|euc-?cn|csgb2312|cn-gb)$/i,
    isOfPairs: true,
    characters: { '\xb7': '\u30fb', '\u2014': '\u2015' },
  },
  { labels: /^(?:euc-?kr|cseuckr)$/i, isOfPairs: true },
];

/**
 * Converts a whole commit to UTF-8, as `git log` does. `label` is the encoding that the commit's `encoding` header
 * names.
 *
 * Returns undefined if the bytes must stay unchanged, as in Git: the label is UTF-8 or unknown, or some bytes are
 * invalid in the encoding. Also returns undefined for more than `MAX_BYTES` bytes.
 */
export function reencode(bytes: ByteString, label: string): ByteString | undefined {
  if (UTF8_LABEL.test(label) || bytes.length > MAX_BYTES) return undefined;
  const variant = VARIANTS.find(({ labels }) => labels.test(label));
  if (variant?.isOfPairs && /[\x80-\xff]/.test(bytes.replace(/[\xa1-\xfe]{2}/g, ''))) return undefined;
  const text = decode(Buffer.from(bytes, 'latin1'), label);
  if (text === undefined || text.includes('\ufffd')) return undefined;
  const characters = variant?.characters;
  if (characters === undefined) return bytesOf(text);
  return bytesOf(text.replace(/[\\~\u0080-\uffff]/g, (character) => characters[character] ?? character));
}

/**
 * Returns the decoded text, or undefined if the encoding is unknown. For some encodings, invalid bytes become U+FFFD;
 * for others, they make the result undefined.
 */
function decode(bytes: Buffer, label: string): string | undefined {
  try {
    if (ISO_2022_JP.test(label)) {
      return new TextDecoder('iso-2022-jp', { fatal: true, ignoreBOM: true }).decode(bytes);
    }
    if (NOT_ASCII_BASED.test(label.toLowerCase().replace(/[^0-9a-z]/g, ''))) return undefined;
    return iconv.decode(bytes, label, { stripBOM: false });
  } catch {
    return undefined;
  }
}

/**
 * Returns the text of a byte string, decoded as UTF-8. If the bytes are not valid UTF-8, they are decoded as ISO
 * 8859-1, because `git commit` repairs such a message in this way.
 */
export function decodeText(bytes: ByteString): string {
  if (isAscii(bytes)) return bytes;
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.includes('\ufffd') && Buffer.from(text, 'utf8').toString('latin1') !== bytes ? bytes : text;
}

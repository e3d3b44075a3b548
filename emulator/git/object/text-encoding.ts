import iconv from 'iconv-lite';
import { type ByteString, bytesOf, isAscii } from './bytes.js';

const UTF8_LABEL = /^utf-?8$/i;
/**
 * Pattern for names of encodings that are refused. Some are not supersets of ASCII, so that decoding would change the
 * header lines of a commit. Others are codecs of the package iconv-lite that are not text encodings.
 */
const NOT_ASCII_BASED = /^(?:utf|ucs|cesu|unicode|binary|base64|hex|internal)/;
const ISO_2022_JP = /^(?:csiso2022jp|iso-?2022-?jp)$/i;

/**
 * Characters that the iconv of glibc, which Git uses, decodes differently from iconv-lite and `TextDecoder`, which use
 * Microsoft's tables.
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
 * Maximum size in bytes of a commit whose encoding is converted, because a conversion cannot yield and would delay
 * other requests.
 */
const MAX_BYTES = 256 * 1024;

interface Variant {
  readonly labels: RegExp;
  readonly characters?: Readonly<Record<string, string>>;
  /**
   * True if bytes from 0x80 on are valid only in pairs of bytes from 0xa1 to 0xfe. The package iconv-lite accepts other
   * bytes too.
   */
  readonly isOfPairs?: boolean;
}

/** Differences between the package iconv-lite and the iconv of glibc, which Git uses, for some encodings. */
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
 * Converts a whole commit from the encoding that its `encoding` header names (`label`) to UTF-8, as `git log` does.
 * Returns undefined if Git shows the bytes unchanged: the label is UTF-8 or unknown, or some bytes are invalid in the
 * encoding. Also returns undefined for more than `MAX_BYTES` bytes.
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
 * Returns the decoded text, or undefined if the encoding is unknown. Invalid bytes become U+FFFD or make the result
 * undefined, depending on the encoding.
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
 * Returns the text of a byte string, decoded as UTF-8. A byte string that is not valid UTF-8 is decoded as ISO 8859-1,
 * as `git commit` does to repair such a message.
 */
export function decodeText(bytes: ByteString): string {
  if (isAscii(bytes)) return bytes;
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.includes('\ufffd') && Buffer.from(text, 'utf8').toString('latin1') !== bytes ? bytes : text;
}

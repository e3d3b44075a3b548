import type { ByteString } from './bytes.js';

const UTF8_LABEL = /^utf-?8$/i;
const LATIN1_LABEL = /^(?:iso-?8859-?1|latin-?1)$/i;

/**
 * Text of a commit or tag field. `label` is the object's `encoding` header, UTF-8 when absent.
 * Bytes that are not UTF-8 are read as ISO 8859-1, Git's own repair for such commits.
 */
export function decodeText(bytes: ByteString, label?: string): string {
  if (isAscii(bytes)) return bytes;
  if (label === undefined || UTF8_LABEL.test(label)) return decodeUtf8(bytes);
  if (LATIN1_LABEL.test(label)) return bytes;
  try {
    return new TextDecoder(label, { ignoreBOM: true }).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return decodeUtf8(bytes); // No such encoding.
  }
}

function decodeUtf8(bytes: ByteString): string {
  const text = Buffer.from(bytes, 'latin1').toString('utf8');
  return text.includes('\ufffd') && Buffer.from(text, 'utf8').toString('latin1') !== bytes ? bytes : text;
}

function isAscii(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    if (value.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}

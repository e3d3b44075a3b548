import { type ByteString, bytesIn, bytesOf, isUtf8, textOf } from '../git/object/bytes.js';

/** Ref names cannot hold a colon, so nothing else begins so. */
const BASE64 = ':base64:';

/** The name of a ref as text; one that is no UTF-8 in base64. */
export function nameText(name: ByteString): string {
  return isUtf8(name) ? textOf(name) : BASE64 + Buffer.from(name, 'latin1').toString('base64');
}

export function nameOfText(text: string): ByteString {
  return text.startsWith(BASE64) ? bytesIn(Buffer.from(text.slice(BASE64.length), 'base64')) : bytesOf(text);
}

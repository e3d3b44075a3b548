import { gzipSync } from 'node:zlib';

/** Quotes a text as one word for a POSIX shell. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Text, or a command that is replaced by its output. */
export type Part = string | { readonly command: string };

/** Quotes one word that consists of Latin-1 text and the output of commands. */
export function quoteParts(parts: readonly Part[]): string {
  if (parts.every((part) => typeof part === 'string' && /^[\x20-\x7e]*$/.test(part))) return quote(parts.join(''));
  const inside = parts.map((part) => {
    if (typeof part !== 'string') return `$(${part.command})`;
    if (/^[\x20-\x7e]*$/.test(part)) return part.replace(/[\\"$`]/g, '\\$&');
    return `$(printf ${quote(printfFormat(Buffer.from(part, 'latin1')))})`;
  });
  return `"${inside.join('')}"`;
}

/**
 * Maximum size in bytes of text that `printf` prints directly. Larger or binary data is base64-encoded, and compressed if
 * that is smaller.
 */
const MAX_AS_TEXT = 4096;
/** Maximum number of encoded bytes in a report. */
const MAX_ENCODED = 128 * 1024;

/** Returns a one-line command that prints exactly these bytes; undefined if there are too many. */
export function printCommand(bytes: Buffer): string | undefined {
  if (bytes.length <= MAX_AS_TEXT && isText(bytes)) return `printf ${quote(printfFormat(bytes))}`;
  const plain = bytes.toString('base64');
  const packed = gzipSync(bytes, { level: 9 }).toString('base64');
  const isSmaller = packed.length < plain.length;
  const encoded = isSmaller ? packed : plain;
  if (encoded.length > MAX_ENCODED) return undefined;
  return `printf %s ${quote(encoded)} | base64 -d${isSmaller ? ' | gzip -dc' : ''}`;
}

function isText(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  return !text.includes('\ufffd') && (text.match(/\p{Cc}/gu)?.length ?? 0) <= text.length / 4;
}

/**
 * Format string of POSIX `printf` that prints these bytes. `%` and `\` are doubled; bytes that are not printable text
 * are written as `\ooo`.
 */
function printfFormat(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\\%]/g, '$&$&')
    .replaceAll('\n', '\\n')
    .replace(/[^\x20-\x7e]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

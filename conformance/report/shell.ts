import { gzipSync } from 'node:zlib';

/** Quotes a text as one POSIX shell word. Text without special characters is returned unchanged. */
export function quote(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Part of a shell word: literal text, or a command whose output is inserted. */
export type Part = string | { readonly command: string };

/**
 * Quotes one POSIX shell word that consists of several parts. A part is Latin-1 text, or a command whose output is
 * inserted.
 */
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
 * Maximum size in bytes of text that a command prints with `printf`. Larger or binary data is printed with `base64 -d`.
 * It is compressed first if that makes it shorter.
 */
const MAX_AS_TEXT = 4096;
/** Maximum number of base64 characters in a command. Longer commands would make reports too large. */
const MAX_ENCODED = 128 * 1024;

/** Returns a one-line shell command that prints exactly these bytes. Returns undefined if there are too many bytes. */
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
 * Returns a format string for POSIX `printf` that prints these bytes. `%` and `\` are doubled. All other bytes except
 * printable ASCII become octal `\ooo`.
 */
function printfFormat(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\\%]/g, '$&$&')
    .replaceAll('\n', '\\n')
    .replace(/[^\x20-\x7e]/g, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

import type { Body } from './entry.js';

/**
 * Body of a request or response in the form in which the page shows it: indented JSON, text, or a hexadecimal listing
 * of bytes.
 */
export type ShownBody =
  | { readonly kind: 'json' | 'text'; readonly text: string }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array };

/**
 * Pattern for control characters except tab, line feed and carriage return. A UTF-8 body is shown as binary if more
 * than half of its characters match.
 */
const CONTROLS = /[^\P{Cc}\t\n\r]/gu;

export function readBody({ text, encoding, truncated }: Body): ShownBody {
  if (encoding === 'base64') {
    return { kind: 'binary', bytes: Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) };
  }
  const json = truncated ? undefined : indented(text);
  if (json !== undefined) return { kind: 'json', text: json };
  const controls = text.match(CONTROLS)?.length ?? 0;
  if (controls > text.length / 2) return { kind: 'binary', bytes: new TextEncoder().encode(text) };
  return { kind: 'text', text };
}

/**
 * Formats JSON text with indentation. Returns undefined if the text is not a JSON object or array; such text is shown
 * unchanged.
 */
function indented(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

const LINE = 16;

/**
 * Formats bytes as `hexdump -C` does. Each line shows 16 bytes: their offset, their hexadecimal values and their ASCII
 * characters.
 */
export function hexLines(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE) {
    const line = Array.from(bytes.subarray(at, at + LINE));
    const hex = line.map((byte) => byte.toString(16).padStart(2, '0'));
    const left = hex.slice(0, LINE / 2).join(' ');
    const right = hex.slice(LINE / 2).join(' ');
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${left.padEnd(23)}  ${right.padEnd(23)}  |${text}|`);
  }
  return lines.join('\n');
}

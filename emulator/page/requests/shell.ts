import { hasUnseen } from '../components/marked-text.js';

/** A word of a POSIX shell (IEEE 1003.1, 2.2): bare where nothing in it means anything to the shell, else quoted. */
export function quoteWord(word: string): string {
  if (/^[\w./:@%+,=-]+$/.test(word)) return word;
  // What does not show itself is spelt out: a line that is copied has to be what it seems.
  return hasUnseen(word) ? printed(new TextEncoder().encode(word)) : quoted(word);
}

/** As `quoteWord`, of the head of a message: its characters are bytes, read as Latin-1. */
export function quoteBytes(word: string): string {
  if (/^[\w./:@%+,=-]+$/.test(word)) return word;
  return /^[\x20-\x7e]*$/.test(word)
    ? quoted(word)
    : printed(Uint8Array.from(word, (character) => character.charCodeAt(0)));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Bytes by the printf of the shell; no argument holds NUL. */
function printed(bytes: Uint8Array): string {
  const format = Array.from(bytes, (byte) => {
    if (byte === 0) return '';
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9 ./:@+,=_?&;-]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"$(printf '${format.join('')}')"`;
}

import { hasUnseen } from '../components/marked-text.js';

/** Quotes a word for a POSIX shell (IEEE 1003.1, section 2.2). A word without special characters stays unquoted. */
export function quoteWord(word: string): string {
  if (/^[\w./:@%+,=-]+$/.test(word)) return word;
  // Invisible characters are written as escapes, so that a copied line contains exactly what it shows.
  return hasUnseen(word) ? printed(new TextEncoder().encode(word)) : quoted(word);
}

/** Quotes a header or request target like `quoteWord`. Its characters are bytes, decoded as Latin-1. */
export function quoteBytes(word: string): string {
  if (/^[\w./:@%+,=-]+$/.test(word)) return word;
  return /^[\x20-\x7e]*$/.test(word)
    ? quoted(word)
    : printed(Uint8Array.from(word, (character) => character.charCodeAt(0)));
}

/** Quotes a word with single quotes, whatever it contains. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Prints bytes with the shell's `printf`. NUL is omitted, because an argument cannot contain it. */
function printed(bytes: Uint8Array): string {
  const format = Array.from(bytes, (byte) => {
    if (byte === 0) return '';
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9 ./:@+,=_?&;-]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"$(printf '${format.join('')}')"`;
}

/** Scopes of a token that creates a repository, clones it and pushes to it. */
export const SCOPES = ['repo:write', 'git:write', 'git:read'];

/** Returns the URL of a Git remote, with a token as its password. */
export function remoteOf(name: string, token = '$TOKEN', suffix = '', gitUrl = location.origin): string {
  return `${gitUrl.replace('://', `://t:${token}@`)}/${encodeURI(name)}${suffix}.git`;
}

/** Returns shell lines that create a repository. Without `token`, they also create a token for the organization. */
export function creationLines(name: string, organization: string | undefined, token?: string): string {
  const org = organization === undefined ? '' : ` --org ${quoteWord(organization)}`;
  const minted = token ?? `$(npx emulator token${org} --repo ${quoteWord(name)} --scopes ${SCOPES.join(',')})`;
  return `TOKEN=${minted}\ncurl -X POST -H "Authorization: Bearer $TOKEN" ${location.origin}/api/repos`;
}

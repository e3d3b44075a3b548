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

/** Scopes of a token that makes a repository, clones it and pushes to it. */
export const SCOPES = ['repo:write', 'git:write', 'git:read'];

/** URL of a remote of a repository, with a token as its password. */
export function remoteOf(name: string, token = '$TOKEN', suffix = '', gitUrl = location.origin): string {
  return `${gitUrl.replace('://', `://t:${token}@`)}/${encodeURI(name)}${suffix}.git`;
}

/** Lines for a shell that make a repository. Without a `token`, they mint it for the organization. */
export function creationLines(name: string, organization: string | undefined, token?: string): string {
  const org = organization === undefined ? '' : ` --org ${quoteWord(organization)}`;
  const minted = token ?? `$(npx emulator token${org} --repo ${quoteWord(name)} --scopes ${SCOPES.join(',')})`;
  return `TOKEN=${minted}\ncurl -X POST -H "Authorization: Bearer $TOKEN" ${location.origin}/api/repos`;
}

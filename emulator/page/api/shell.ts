import { hasUnseen } from '../components/marked-text.js';

/**
 * Quotes a word for a POSIX shell (IEEE 1003.1, section 2.2). A word without special characters is returned unquoted.
 */
export function quoteWord(word: string): string {
  if (/^[\w./:@%+,=-]+$/.test(word)) return word;
  // Invisible characters are written as escapes, so that the user sees every character of the command before copying
  // it.
  return hasUnseen(word) ? printed(new TextEncoder().encode(word)) : quoted(word);
}

/** Quotes a header or request target for a POSIX shell. Each character of `word` is one byte (Latin-1). */
export function quoteBytes(word: string): string {
  if (/^[\w./:@%+,=-]+$/.test(word)) return word;
  return /^[\x20-\x7e]*$/.test(word)
    ? quoted(word)
    : printed(Uint8Array.from(word, (character) => character.charCodeAt(0)));
}

/**
 * Encloses a word in single quotes for a POSIX shell, even if it needs no quotes. A single quote in the word becomes
 * `'\''`.
 */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns a shell word whose value is the given bytes. The word is a command substitution of `printf`. NUL is omitted,
 * because an argument of a command cannot contain it.
 */
function printed(bytes: Uint8Array): string {
  const format = Array.from(bytes, (byte) => {
    if (byte === 0) return '';
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9 ./:@+,=_?&;-]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"$(printf '${format.join('')}')"`;
}

/** Scopes (permissions) that a token needs to create a repository, clone it and push to it. */
export const SCOPES = ['repo:write', 'git:write', 'git:read'];

/**
 * Returns the URL of the Git remote of the repository `name`. The URL contains a token as password; by default, the
 * shell variable `$TOKEN`. `suffix` is `+ephemeral` or `+import` for the special remotes of the repository, and empty
 * for the ordinary remote.
 */
export function remoteOf(name: string, token = '$TOKEN', suffix = '', gitUrl = location.origin): string {
  return `${gitUrl.replace('://', `://t:${token}@`)}/${encodeURI(name)}${suffix}.git`;
}

/**
 * Returns shell lines that create the repository `name`. If `token` is absent, the lines also create a token for the
 * organization.
 */
export function creationLines(name: string, organization: string | undefined, token?: string): string {
  const org = organization === undefined ? '' : ` --org ${quoteWord(organization)}`;
  const minted = token ?? `$(npx emulator token${org} --repo ${quoteWord(name)} --scopes ${SCOPES.join(',')})`;
  return `TOKEN=${minted}\ncurl -X POST -H "Authorization: Bearer $TOKEN" ${location.origin}/api/repos`;
}

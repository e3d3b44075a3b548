import { quoteWord } from '../requests/shell.js';

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

import { fixtureKeys } from '../auth/fixture-keys.js';
import { quoteWord } from '../faults/shell.js';
import type { Emulator } from '../index.js';

/** Returns the address of the emulator's web page, on which users control it. */
export function pageUrl({ adminUrl }: Pick<Emulator, 'adminUrl'>): string {
  return `${adminUrl}/`;
}

/** Returns the text that `start` prints on a terminal: addresses, and commands that users can copy unchanged. */
export function writeBanner(emulator: Emulator): string {
  const { baseUrl, gitHost, org, orgs, keyId, keyFile, adminTokenFile } = emulator;
  const isTestKey = fixtureKeys().some(({ privateKeyFile }) => privateKeyFile === keyFile);
  const otherKey = isTestKey ? '   (key second)' : '';
  const further = orgs.slice(1).map((other) => `  ${other.org.padEnd(14)} ${other.baseUrl}${otherKey}\n`);
  const token = adminTokenFile === undefined ? '' : `\n  The admin routes require the token in ${adminTokenFile}\n`;
  const signer = isTestKey || keyFile === '' ? '' : ` --key ${quoteWord(keyFile)}`;
  return `
  repohost-emulator is ready.

  ${org.padEnd(14)} ${baseUrl}   (${keyId === '' ? 'no key' : `key ${keyId}`})
${further.join('')}
  page ${pageUrl(emulator)}
${token}
  Create a repository, push to it, read it back:

    TOKEN=$(npx emulator token --org ${org}${signer} --repo team/app --scopes repo:write,git:write,git:read)
    curl -X POST -H "Authorization: Bearer $TOKEN" ${baseUrl}/api/repos
    git push http://t:$TOKEN@${gitHost}/team/app.git HEAD:main
    curl -H "Authorization: Bearer $TOKEN" "${baseUrl}/api/v1/repos/commit?sha=main"

  Ctrl-C stops it. Everything is in memory only.

`;
}

import type { Emulator } from '../index.js';

/** What a person sees instead of the ready line: addresses, and lines to copy that work as they stand. */
export function writeBanner({ baseUrl, gitHost, org, orgs, keyId, adminTokenFile }: Emulator): string {
  const further = orgs.slice(1).map((other) => `  ${other.org.padEnd(14)} ${other.baseUrl}   (key second)\n`);
  const token = adminTokenFile === undefined ? '' : `\n  The admin routes ask for the token in ${adminTokenFile}\n`;
  return `
  repohost-emulator is ready.

  ${org.padEnd(14)} ${baseUrl}   (key ${keyId})
${further.join('')}${token}
  Create a repository, push to it, read it back:

    TOKEN=$(npx emulator token --org ${org} --repo team/app --scopes repo:write,git:write,git:read)
    curl -X POST -H "Authorization: Bearer $TOKEN" ${baseUrl}/api/repos
    git push http://t:$TOKEN@${gitHost}/team/app.git HEAD:main
    curl -H "Authorization: Bearer $TOKEN" "${baseUrl}/api/v1/repos/commit?sha=main"

  Ctrl-C stops it; what it holds is in memory only.

`;
}

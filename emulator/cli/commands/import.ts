import { Readable } from 'node:stream';
import { text } from '../../config/option-values.js';
import { type AdminClient, readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';
import { Progress } from '../progress.js';
import type { Terminal } from '../terminal.js';
import { sayingSource } from '../usage-error.js';

/**
 * Response of the admin API to `POST /import`. `content` says what was imported: the whole state (`world`) or one
 * `repository`.
 */
interface ImportResponse {
  readonly content: 'world' | 'repository';
  readonly repositories: number;
  readonly repository?: { readonly name: string; readonly commit: string | null };
}

/**
 * Sends the export or repository at a path or URL to a running emulator. Reads and checks the source completely before
 * it sends the first byte, so that an invalid source changes nothing.
 */
export async function sendSource(
  path: string,
  target: { readonly name?: string | undefined; readonly organization?: string | undefined },
  client: AdminClient,
  terminal: Terminal,
): Promise<ImportResponse> {
  const { archiveOf } = await import('../../exports/open-state.js');
  return sayingSource(async () => {
    const sent = new Progress(terminal, 'Sent');
    const response = await client.ask('POST', '/import', Readable.from(sent.watch(await archiveOf(path, target))));
    sent.end();
    return response as ImportResponse;
  });
}

/**
 * Command `emulator import`: replaces the whole state of a running emulator with an export, or imports one repository.
 */
export const importCommand = adminCommand({
  name: 'import',
  describe:
    'Replace the whole state by an export; or import a folder, bundle, repository or clone URL as one repository',
  flags: {
    repo: {
      read: text('the name of a repository'),
      describe: 'Name of the imported repository; default: the last part of the path',
    },
    org: {
      read: text('the name of an organization'),
      describe: 'Organization that gets the imported repository; default: the first organization',
    },
  },
  positionals: { path: 'Export (folder or tar archive), folder, bundle, bare repository or clone URL' },
  run: async ({ path: given, repo, org }, client, { terminal }) => {
    const path = readValue('import', given, 'a path or a URL to import');
    const response = await sendSource(path, { name: repo, organization: org }, client, terminal);
    const { repository, repositories } = response;
    return { json: response, text: repository ? showRepository(repository) : `${repositories} repositories\n` };
  },
});

export function showRepository({ name, commit }: NonNullable<ImportResponse['repository']>): string {
  return `${name} ${commit ?? 'without a commit'}\n`;
}

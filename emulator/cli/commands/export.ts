import { exportParts } from '../../exports/parts.js';
import { readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';
import { Progress } from '../progress.js';
import { sayingSource } from '../usage-error.js';

/** Command `emulator export`: writes the whole state of a running emulator to a folder. */
export const exportCommand = adminCommand({
  name: 'export',
  describe: 'Write the whole state of an emulator to a folder, as bare Git repositories and JSON files',
  flags: {
    'include-secrets': {
      describe: 'Include secrets: credentials of upstreams, secrets of webhooks, environment variables of deployments',
    },
  },
  epilogue: () => {
    const rows = exportParts().map((row) => `  ${row.in ? 'in ' : 'out'}  ${row.what} (${row.why})`);
    return `Content of an export:\n${rows.join('\n')}`;
  },
  positionals: { folder: 'Folder to write to; an earlier export in it is updated' },
  run: async ({ folder: given, 'include-secrets': secrets }, client, { terminal }) => {
    const folder = readValue('export', given, 'a folder');
    const { readTar } = await import('../../exports/tar.js');
    const { filesOfArchive } = await import('../../exports/open-state.js');
    const { saveState } = await import('../../exports/state-directory.js');
    await sayingSource(async () => {
      const received = new Progress(terminal, 'Received');
      const pieces = received.watch(client.receive('/export', { include_secrets: secrets }));
      const tree = await readTar(pieces, { title: 'The export' });
      received.end();
      const written = new Progress(terminal, 'Written', received.bytes);
      await saveState(folder, filesOfArchive(tree), (bytes) => written.add(bytes));
      written.end();
    });
    return { json: { folder, secrets, parts: exportParts() } };
  },
});

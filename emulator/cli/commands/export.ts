import { exportParts } from '../../exports/parts.js';
import { ADMIN_FLAGS, AdminClient, printJson, readValue } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { Progress } from '../progress.js';
import { sayingSource } from '../source-errors.js';

/** `emulator export`: everything of a running emulator, in a folder. */
export const exportCommand = defineCommand({
  name: 'export',
  describe: 'Write everything to a folder: bare repositories that Git reads, and JSON',
  flags: {
    ...ADMIN_FLAGS,
    'include-secrets': {
      describe: 'With credentials of upstreams, secrets of webhooks and variables of deployments',
    },
  },
  epilogue: () => {
    const rows = exportParts().map((row) => `  ${row.in ? 'in ' : 'out'}  ${row.what} (${row.why})`);
    return `What an export holds:\n${rows.join('\n')}`;
  },
  positionals: { folder: 'Folder to write; one that holds an export is brought up to date' },
  run: async ({ folder: given, json, 'include-secrets': secrets, ...address }, { terminal }) => {
    const folder = readValue('export', given, 'a folder');
    const client = new AdminClient(address, terminal);
    const { readTar } = await import('../../exports/tar.js');
    const { filesOfArchive } = await import('../../exports/archive-files.js');
    const { saveState } = await import('../../exports/state-directory.js');
    await sayingSource(async () => {
      const received = new Progress(terminal, 'Received');
      const pieces = received.watch(client.receive('/export', { include_secrets: secrets }));
      const tree = await readTar(pieces, { title: 'The export', take: () => {} });
      received.end();
      const written = new Progress(terminal, 'Written', received.bytes);
      await saveState(folder, filesOfArchive(tree), { progress: (bytes) => written.add(bytes) });
      written.end();
    });
    if (json) printJson(terminal, { folder, secrets, parts: exportParts() });
  },
});

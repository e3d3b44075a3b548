import { ADMIN_FLAGS, AdminClient, printJson, readAction, readValue } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { writeTable } from '../table.js';

const ACTIONS = ['add', 'ls', 'restore', 'rm'] as const;

/** `emulator snapshot`: keeps everything, and puts it back. */
export const snapshotCommand = defineCommand({
  name: 'snapshot',
  describe: 'Keep everything as it is, and put it back: add, ls, restore ID, rm ID',
  flags: ADMIN_FLAGS,
  positionals: { action: 'add, ls, restore or rm', id: 'Of a snapshot' },
  run: async ({ action, id, json, ...address }, { terminal }) => {
    const name = readAction('snapshot', action, ACTIONS);
    const takesId = name === 'restore' || name === 'rm';
    const path = `/snapshots/${encodeURIComponent(readValue(`snapshot ${name}`, id, takesId ? 'the id of a snapshot' : undefined))}`;
    const client = new AdminClient(address, terminal);
    if (name === 'ls') {
      const items = await client.list('/snapshots');
      if (json) return printJson(terminal, items);
      const rows = items.map((item) => [item.id, item.taken_at, item.repositories].map(String));
      return terminal.print(writeTable([['ID', 'TAKEN AT', 'REPOSITORIES'], ...rows]));
    }
    if (name === 'rm') {
      await client.ask('DELETE', path);
      return json ? printJson(terminal, { id, removed: true }) : undefined;
    }
    const kept = await client.ask('POST', name === 'add' ? '/snapshots' : `${path}/restore`);
    if (json) return printJson(terminal, kept);
    // The id and nothing else, for a script to keep.
    terminal.print(`${(kept as { id: string }).id}\n`);
  },
});

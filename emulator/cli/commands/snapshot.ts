import { readAction, readValue } from '../admin-client.js';
import { adminCommand, listed, made } from '../admin-command.js';

const ACTIONS = ['add', 'ls', 'restore', 'rm'] as const;

/**
 * Command `emulator snapshot`: takes, lists, restores and deletes snapshots of the whole state of a running emulator.
 */
export const snapshotCommand = adminCommand({
  name: 'snapshot',
  describe: 'Take and restore snapshots of the whole state of an emulator: add, ls, restore ID, rm ID',
  positionals: { action: 'add, ls, restore or rm', id: 'Id of a snapshot' },
  run: async ({ action, id }, client) => {
    const name = readAction('snapshot', action, ACTIONS);
    const takesId = name === 'restore' || name === 'rm';
    const path = `/snapshots/${encodeURIComponent(readValue(`snapshot ${name}`, id, takesId ? 'the id of a snapshot' : undefined))}`;
    if (name === 'ls') {
      const columns = { ID: 'id', 'TAKEN AT': 'taken_at', REPOSITORIES: 'repositories' };
      return listed(await client.list('/snapshots'), columns);
    }
    if (name === 'rm') {
      await client.ask('DELETE', path);
      return { json: { id, removed: true } };
    }
    return made(await client.ask('POST', name === 'add' ? '/snapshots' : `${path}/restore`));
  },
});

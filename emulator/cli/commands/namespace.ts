import { text } from '../../config/option-values.js';
import { AdminClient, EMULATOR_FLAGS, printJson, readAction, readValue } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { writeTable } from '../table.js';
import { UsageError } from '../usage-error.js';

const ACTIONS = ['add', 'ls', 'rm'] as const;

const FLAGS = {
  ...EMULATOR_FLAGS,
  snapshot: { read: text('the id of a snapshot'), describe: 'Snapshot to start from; default: nothing in it' },
  seed: { read: text('a seed'), describe: 'Seed of its ids; default: that of the emulator' },
  clock: {
    read: text('real, or an ISO 8601 time'),
    describe: 'Its time: real, or where a clock starts; default: that of the emulator',
  },
} as const;

/** `emulator namespace`: isolated worlds of an emulator. */
export const namespaceCommand = defineCommand({
  name: 'namespace',
  describe: 'Make isolated worlds on ports of their own: add, ls, rm ID',
  flags: FLAGS,
  positionals: { action: 'add, ls or rm', id: 'Of a namespace' },
  run: async ({ action, id, snapshot, seed, clock, json, ...address }, { terminal }) => {
    const name = readAction('namespace', action, ACTIONS);
    const wanted = readValue(`namespace ${name}`, id, name === 'rm' ? 'the id of a namespace' : undefined);
    const options = { snapshot, seed, clock };
    const [given] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
    if (name !== 'add' && given !== undefined) throw new UsageError(`namespace ${name} takes no --${given}.`);
    const client = new AdminClient(address, terminal);
    if (name === 'rm') {
      await client.ask('DELETE', `/namespaces/${encodeURIComponent(wanted)}`);
      return json ? printJson(terminal, { id, removed: true }) : undefined;
    }
    if (name === 'add') {
      const made = await client.ask('POST', '/namespaces', options);
      // The id and nothing else, for a script to keep.
      return json ? printJson(terminal, made) : terminal.print(`${(made as { id: string }).id}\n`);
    }
    const items = await client.list('/namespaces');
    if (json) return printJson(terminal, items);
    const rows = items.map((item) => [item.id, item.org, item.base_url].map(String));
    terminal.print(writeTable([['ID', 'ORGANIZATION', 'BASE URL'], ...rows]));
  },
});

import { text } from '../../config/option-values.js';
import { readAction, readValue } from '../admin-client.js';
import { adminCommand, listed, made } from '../admin-command.js';
import { UsageError } from '../usage-error.js';

const ACTIONS = ['add', 'ls', 'rm'] as const;

const FLAGS = {
  snapshot: {
    read: text('the id of a snapshot'),
    describe: 'Id of the snapshot with which the namespace starts; default: an empty state',
  },
  seed: { read: text('a seed'), describe: 'Seed of the ids in the namespace; default: the seed of the emulator' },
  clock: {
    read: text('real, or an ISO 8601 time'),
    describe: 'Clock of the namespace: real, or the start time of a manual clock; default: the clock of the emulator',
  },
} as const;

/**
 * Command `emulator namespace`: creates, lists and deletes namespaces. A namespace is an isolated copy of the service
 * with its own ports.
 */
export const namespaceCommand = adminCommand({
  name: 'namespace',
  describe: 'Create isolated copies of the service on their own ports: add, ls, rm ID',
  isOfNamespace: false,
  flags: FLAGS,
  positionals: { action: 'add, ls or rm', id: 'Id of a namespace' },
  run: async ({ action, id, snapshot, seed, clock }, client) => {
    const name = readAction('namespace', action, ACTIONS);
    const wanted = readValue(`namespace ${name}`, id, name === 'rm' ? 'the id of a namespace' : undefined);
    const options = { snapshot, seed, clock };
    const [given] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
    if (name !== 'add' && given !== undefined)
      throw new UsageError(`namespace ${name} takes no --${given}. Only namespace add does.`);
    if (name === 'rm') {
      await client.ask('DELETE', `/namespaces/${encodeURIComponent(wanted)}`);
      return { json: { id, removed: true } };
    }
    if (name === 'add') return made(await client.ask('POST', '/namespaces', options));
    return listed(await client.list('/namespaces'), { ID: 'id', ORGANIZATION: 'org', 'BASE URL': 'base_url' });
  },
});

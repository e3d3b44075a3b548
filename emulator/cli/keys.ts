import type { CommandModule } from 'yargs';
import { fixtureKeys } from '../auth/fixture-keys.js';
import type { Session } from './session.js';
import { writeTable } from './table.js';

/** `emulator keys`: the published test keys. */
export function keysCommand({ terminal }: Session): CommandModule<object, { json: boolean }> {
  return {
    command: 'keys',
    describe: 'List the published test keys',
    builder: (command) => command.option('json', { type: 'boolean', default: false, describe: 'As JSON' }),
    handler: ({ json }) => {
      const rows = fixtureKeys().map((row) => ({
        id: row.id,
        alg: row.algorithm,
        organization: row.organization,
        allowed_scopes: row.allowedScopes,
        deleted: row.deleted,
        private_key_file: row.privateKeyFile,
      }));
      if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
      const table = rows.map((row) => [
        row.id,
        row.alg,
        row.deleted ? 'deleted' : `${row.organization} organization`,
        row.allowed_scopes.join(','),
        row.private_key_file,
      ]);
      terminal.print(writeTable([['ID', 'ALG', 'REGISTERED WITH', 'SCOPES', 'PRIVATE KEY'], ...table]));
    },
  };
}

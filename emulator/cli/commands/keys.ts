import { fixtureKeys } from '../../auth/fixture-keys.js';
import { defineCommand } from '../command.js';
import { writeTable } from '../table.js';

/** Command `emulator keys`: lists the published test keys, which sign access tokens for the emulator. */
export const keysCommand = defineCommand({
  name: 'keys',
  describe: 'List the published test keys, with which tests can sign tokens',
  flags: { json: { describe: 'As JSON' } },
  run: ({ json }, { terminal }) => {
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
});

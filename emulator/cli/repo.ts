import { ADMIN_FLAGS, AdminClient, printJson, readAction } from './admin-client.js';
import { defineCommand } from './command.js';
import { writeTable } from './table.js';

/** `emulator repo`: the repositories of an emulator. */
export const repoCommand = defineCommand({
  name: 'repo',
  describe: 'Look at the repositories of an emulator, whatever their state: ls',
  flags: ADMIN_FLAGS,
  positionals: { action: 'ls' },
  run: async ({ action, json, ...address }, { terminal }) => {
    readAction('repo', action, ['ls']);
    const items = await new AdminClient(address, terminal).list('/repositories');
    if (json) return printJson(terminal, items);
    const rows = items.map((item) =>
      [item.name, item.state, item.default_branch ?? '–', item.refs, item.objects, item.created_at].map(String),
    );
    terminal.print(writeTable([['NAME', 'STATE', 'BRANCH', 'REFS', 'OBJECTS', 'CREATED AT'], ...rows]));
  },
});

import { ADMIN_FLAGS, AdminClient, printJson } from '../admin-client.js';
import { defineCommand } from '../command.js';

/** `emulator status`: what runs there. */
export const statusCommand = defineCommand({
  name: 'status',
  describe: 'Show what a running emulator is and holds',
  flags: ADMIN_FLAGS,
  run: async ({ json, ...address }, { terminal }) => {
    const client = new AdminClient(address, terminal);
    const { version } = (await client.ask('GET', '/version')) as { version: string };
    const clock = (await client.ask('GET', '/clock')) as { mode: string; now: string };
    const { organizations } = (await client.ask('GET', '/state')) as { organizations: object };
    const repositories = (await client.list('/repositories')).length;
    const snapshots = (await client.list('/snapshots')).length;
    const status = { url: client.url, version, clock, organizations, repositories, snapshots };
    if (json) return printJson(terminal, status);
    const rows = Object.entries(organizations).map(([name, switches]) => `${name}: ${showMembers(switches)}\n`);
    terminal.print(
      `repohost-emulator ${version} at ${client.url}\nclock: ${clock.now} (${clock.mode})\n${rows.join('')}` +
        `${repositories} repositories, ${snapshots} snapshots\n`,
    );
  },
});

function showMembers(members: object): string {
  return Object.entries(members)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');
}

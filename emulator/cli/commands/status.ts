import { adminCommand } from '../admin-command.js';

/** Command `emulator status`: shows the version, the clock and the content of a running emulator. */
export const statusCommand = adminCommand({
  name: 'status',
  describe: 'Show the version, the clock and the numbers of repositories and snapshots of a running emulator',
  run: async (_, client) => {
    const { version } = (await client.ask('GET', '/version')) as { version: string };
    const clock = (await client.ask('GET', '/clock')) as { mode: string; now: string };
    const { organizations } = (await client.ask('GET', '/state')) as { organizations: object };
    const repositories = (await client.list('/repositories')).length;
    const snapshots = (await client.list('/snapshots')).length;
    const status = { url: client.url, version, clock, organizations, repositories, snapshots };
    const rows = Object.entries(organizations).map(([name, switches]) => `${name}: ${showMembers(switches)}\n`);
    const text =
      `repohost-emulator ${version} at ${client.url}\nclock: ${clock.now} (${clock.mode})\n${rows.join('')}` +
      `${repositories} repositories, ${snapshots} snapshots\n`;
    return { json: status, text };
  },
});

function showMembers(members: object): string {
  return Object.entries(members)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');
}

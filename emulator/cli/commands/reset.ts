import { ADMIN_FLAGS, AdminClient, printJson } from '../admin-client.js';
import { defineCommand } from '../command.js';

/** `emulator reset`: as before the first request. */
export const resetCommand = defineCommand({
  name: 'reset',
  describe: 'Put everything back to what it was before the first request; snapshots stay',
  flags: ADMIN_FLAGS,
  run: async ({ json, ...address }, { terminal }) => {
    const client = new AdminClient(address, terminal);
    const answer = await client.ask('POST', '/reset');
    if (json) return printJson(terminal, answer);
    terminal.print(`The emulator at ${client.url} is as it was before the first request.\n`);
  },
});

import { ADMIN_FLAGS, AdminClient, printJson, readAction, readValue } from '../admin-client.js';
import { defineCommand } from '../command.js';

/** `emulator latch`: lets go of what a fault or a state holds. */
export const latchCommand = defineCommand({
  name: 'latch',
  describe: 'Let go of the requests and states that a latch holds: release NAME',
  flags: ADMIN_FLAGS,
  positionals: { action: 'release', name: 'Of the latch' },
  run: async ({ action, name, json, ...address }, { terminal }) => {
    readAction('latch', action, ['release']);
    const latch = readValue('latch release', name, 'the name of a latch');
    const path = `/latches/${encodeURIComponent(latch)}/release`;
    const answer = await new AdminClient(address, terminal).ask('POST', path);
    if (json) return printJson(terminal, answer);
    // How many it held: 0 tells a script that it came too early.
    terminal.print(`${(answer as { released: number }).released}\n`);
  },
});

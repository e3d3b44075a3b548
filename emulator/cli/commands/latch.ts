import { readAction, readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';

/** `emulator latch`: lets go of what a fault or a state holds. */
export const latchCommand = adminCommand({
  name: 'latch',
  describe: 'Let go of the requests and states that a latch holds: release NAME',
  positionals: { action: 'release', name: 'Of the latch' },
  run: async ({ action, name }, client) => {
    readAction('latch', action, ['release']);
    const latch = readValue('latch release', name, 'the name of a latch');
    const answer = await client.ask('POST', `/latches/${encodeURIComponent(latch)}/release`);
    // How many it held: 0 tells a script that it came too early.
    return { json: answer, text: `${(answer as { released: number }).released}\n` };
  },
});

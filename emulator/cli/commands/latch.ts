import { readAction, readValue } from '../admin-client.js';
import { adminCommand } from '../admin-command.js';

/**
 * Command `emulator latch`: releases a latch (named barrier), so that the requests and simulated states waiting at it
 * continue.
 */
export const latchCommand = adminCommand({
  name: 'latch',
  describe: 'Let requests continue that a fault holds until its latch is released: release NAME',
  positionals: { action: 'release', name: 'Name of the latch, as in the fault hold;latch=NAME' },
  run: async ({ action, name }, client) => {
    readAction('latch', action, ['release']);
    const latch = readValue('latch release', name, 'the name of a latch');
    const response = await client.ask('POST', `/latches/${encodeURIComponent(latch)}/release`);
    // Prints the number of released requests and states. 0 tells a script that it released the latch too early.
    return { json: response, text: `${(response as { released: number }).released}\n` };
  },
});

import { adminCommand } from '../admin-command.js';

/** `emulator reset`: resets the state to the one before the first request. */
export const resetCommand = adminCommand({
  name: 'reset',
  describe: 'Reset the whole state to what it was before the first request; snapshots stay',
  run: async (_, client) => ({
    json: await client.ask('POST', '/reset'),
    text: `The emulator at ${client.url} was reset.\n`,
  }),
});

import { adminCommand } from '../admin-command.js';

/** Command `emulator reset`: restores the state that a running emulator had before its first request. */
export const resetCommand = adminCommand({
  name: 'reset',
  describe: 'Reset the whole state of an emulator to that before the first request; snapshots stay',
  run: async (_, client) => ({
    json: await client.ask('POST', '/reset'),
    text: `The emulator at ${client.url} was reset.\n`,
  }),
});

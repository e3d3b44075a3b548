import { setTimeout as pause } from 'node:timers/promises';
import { adminCommand } from '../admin-command.js';
import { probe } from '../probe.js';
import { NOT_SAVED } from '../run-start.js';
import { UsageError } from '../usage-error.js';

/**
 * Times in milliseconds: the maximum wait until the emulator has ended, and the pause between two checks if it still
 * responds.
 */
const LONGEST_WAIT = 60_000;
const LOOK = 20;

/** Command `emulator stop`: asks a running emulator to end, and waits until it no longer responds. */
export const stopCommand = adminCommand({
  name: 'stop',
  describe: 'Stop a running emulator after it has finished the requests in progress',
  isOfNamespace: false,
  run: async (_, client, session) => {
    const { terminal } = session;
    const { saved = true } = (await client.ask('POST', '/shutdown')) as { readonly saved?: boolean };
    const deadline = performance.now() + LONGEST_WAIT;
    while ((await probe(client.url, terminal)) === undefined) {
      if (performance.now() > deadline)
        throw new UsageError(`The emulator at ${client.url} has not stopped yet: it is still finishing requests.`);
      await pause(LOOK);
    }
    if (!saved) {
      session.exitCode = NOT_SAVED;
      terminal.warn('The state could not be saved. The folder of --persist still contains the previous save.\n');
    }
    return {
      json: { url: client.url, stopped: true, ...(!saved && { saved }) },
      text: `The emulator at ${client.url} has stopped.\n`,
    };
  },
});

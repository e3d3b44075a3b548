import { setTimeout as pause } from 'node:timers/promises';
import { AdminClient, EMULATOR_FLAGS, printJson } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { probe } from '../probe.js';
import { NOT_SAVED } from '../run-start.js';
import { UsageError } from '../usage-error.js';

/** Milliseconds that requests under way may hold it up, and between two looks. */
const LONGEST_WAIT = 60_000;
const LOOK = 20;

/** `emulator stop`: asks it to end, and waits until it has. */
export const stopCommand = defineCommand({
  name: 'stop',
  describe: 'End a running emulator; requests that are under way are answered first',
  flags: EMULATOR_FLAGS,
  run: async ({ json, ...address }, session) => {
    const { terminal } = session;
    const client = new AdminClient(address, terminal);
    const { saved = true } = (await client.ask('POST', '/shutdown')) as { readonly saved?: boolean };
    const deadline = performance.now() + LONGEST_WAIT;
    while ((await probe(client.url, terminal)) === undefined) {
      if (performance.now() > deadline) throw new UsageError(`The emulator at ${client.url} is still closing.`);
      await pause(LOOK);
    }
    if (!saved) {
      session.exitCode = NOT_SAVED;
      terminal.warn('Its state could not be saved; the folder of --persist holds that of an earlier save.\n');
    }
    if (json) return printJson(terminal, { url: client.url, stopped: true, ...(!saved && { saved }) });
    terminal.print(`The emulator at ${client.url} has stopped.\n`);
  },
});

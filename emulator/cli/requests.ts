import { ADMIN_FLAGS, AdminClient, printJson } from './admin-client.js';
import { defineCommand } from './command.js';
import { createLog } from './log.js';

/** Before the first event: what the journal has comes first. */
const START = '0';

/** `emulator requests`: what was answered, and what is being answered. */
export const requestsCommand = defineCommand({
  name: 'requests',
  describe: 'List the requests that an emulator answered',
  flags: { ...ADMIN_FLAGS, follow: { describe: 'Go on with those to come; with --json one a line' } },
  run: async ({ json, follow, ...address }, { terminal }) => {
    const client = new AdminClient(address, terminal);
    const log = createLog(json ? 'json' : 'pretty', (text) => terminal.print(text));
    if (!follow) {
      const entries = await client.list('/requests');
      if (json) return printJson(terminal, entries);
      for (const entry of entries) log.write({ event: 'request', ...entry });
      return;
    }
    for await (const { name, data } of client.events('/requests/stream', START)) {
      log.write({ event: name, ...(data as object) });
      // A reader that goes away has what it wanted.
      if (await terminal.printed()) return;
    }
  },
});

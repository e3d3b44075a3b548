import { ADMIN_FLAGS, AdminClient, printJson } from './admin-client.js';
import { defineCommand } from './command.js';
import { createLog } from './log.js';

/** Before the first request there was. */
const START = 'req-00000000';

/** `emulator requests`: what was answered, and what is being answered. */
export const requestsCommand = defineCommand({
  name: 'requests',
  describe: 'List the requests that an emulator answered',
  flags: { ...ADMIN_FLAGS, follow: { describe: 'Go on with those to come; with --json one a line' } },
  run: async ({ json, follow, ...address }, { terminal }) => {
    const client = new AdminClient(address, terminal);
    const entries = await client.list('/requests');
    if (json && !follow) return printJson(terminal, entries);
    const log = createLog(json ? 'json' : 'pretty', (text) => terminal.print(text));
    for (const entry of entries) log.write({ event: 'request', ...entry });
    if (!follow) return;
    for await (const { name, data } of client.events('/requests/stream', String(entries.at(-1)?.id ?? START))) {
      log.write({ event: name, ...(data as object) });
      // A reader that goes away has what it wanted.
      if (await terminal.printed()) return;
    }
  },
});

import { ADMIN_FLAGS, findUrl, printJson } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { probe } from '../probe.js';

/** Command `emulator health`: exits with 0 if the emulator at the URL responds, otherwise with 3. */
export const healthCommand = defineCommand({
  name: 'health',
  describe: 'Check that an emulator runs at --url: exit status 0 if it responds, 3 if not',
  flags: { url: ADMIN_FLAGS.url, json: ADMIN_FLAGS.json },
  run: async ({ url: given, json }, session) => {
    const url = findUrl(given, session.terminal);
    const complaint = await probe(url, session.terminal);
    if (json) printJson(session.terminal, { url, ready: complaint === undefined, reason: complaint ?? null });
    else if (complaint === undefined) session.terminal.print(`The emulator at ${url} is ready.\n`);
    if (complaint === undefined) return;
    session.terminal.warn(`No emulator at ${url}: ${complaint}.\n`);
    session.exitCode = 3;
  },
});

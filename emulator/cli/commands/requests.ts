import { list, text } from '../../config/option-values.js';
import { ADMIN_FLAGS, AdminClient, printJson, withQuery } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { createLog } from '../log.js';

/**
 * Event id after which the stream of requests begins. All events have greater ids, so the stream includes the requests
 * that are already in the journal.
 */
const START = '0';

const SEVERAL = '; separate several by commas';

const FLAGS = {
  ...ADMIN_FLAGS,
  follow: { describe: 'Wait for further requests and print each as it ends; with --json, one per line' },
  op: {
    read: list(text('the id of an operation')),
    repeatable: true,
    describe: `List only requests of an operation, such as commitPack or git*${SEVERAL}`,
  },
  status: {
    read: list(text('a status or a class such as 4xx')),
    repeatable: true,
    describe: `List only requests with a response status, such as 404 or 4xx${SEVERAL}`,
  },
  code: {
    read: list(text('a code')),
    repeatable: true,
    describe: `List only requests whose response has an error code, such as not_found${SEVERAL}`,
  },
  origin: {
    read: text('real, state, injected or injected:<fault>'),
    describe: 'List only requests whose response has this origin: real, state, injected, or injected:<fault>',
  },
  'user-agent': {
    read: text('a user agent'),
    describe: 'List only requests with this User-Agent; git/* matches all that begin with git/',
  },
  failed: { describe: 'List only requests with a status of 400 or above or a broken connection' },
  repo: { read: text('the name of a repository'), describe: 'List only requests whose token is for this repository' },
} as const;

/**
 * Command `emulator requests`: lists the requests that a running emulator has recorded. It can also print new requests
 * as they end.
 */
export const requestsCommand = defineCommand({
  name: 'requests',
  describe: 'List the requests that an emulator has received, from its journal',
  flags: FLAGS,
  run: async ({ json, follow, op, status, code, origin, repo, failed, ...flags }, { terminal }) => {
    const { 'user-agent': userAgent, ...address } = flags;
    const query = {
      operation: op?.join(','),
      status: status?.join(','),
      code: code?.join(','),
      origin,
      repository: repo,
      userAgent,
      failed: failed ? 'true' : undefined,
    };
    const client = new AdminClient(address, terminal);
    const log = createLog(json ? 'json' : 'pretty', (text) => terminal.print(text));
    if (!follow) {
      let dropped = 0;
      const entries = await client.list('/requests', query, (page) => {
        dropped = page.dropped ?? 0;
      });
      if (dropped > 0)
        terminal.warn(
          `The journal no longer contains the first ${dropped} requests (--max-journal, --max-journal-bytes).\n`,
        );
      if (json) return printJson(terminal, entries);
      for (const entry of entries) log.write({ event: 'request', ...entry });
      return;
    }
    for await (const { name, data } of client.events(withQuery('/requests/stream', query), START)) {
      log.write({ event: name, ...(data as object) });
      // Stops without an error if the output cannot be written. The program that reads the pipe may have ended on
      // purpose, as `head` does.
      if (await terminal.printed()) return;
    }
  },
});

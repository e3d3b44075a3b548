import { setTimeout as pause } from 'node:timers/promises';
import { duration, integer, text } from '../../config/option-values.js';
import { isAlive } from '../../system/process-owner.js';
import { ADMIN_FLAGS, findUrl, printJson } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { probe } from '../probe.js';
import { readReady } from '../ready.js';
import type { Terminal } from '../terminal.js';

/**
 * Pauses in milliseconds between two checks if the emulator responds: the first pause, and the longest. The pause
 * doubles after each check. It starts short, because most emulators are ready soon.
 */
const PAUSES = { first: 20, longest: 250 };

/**
 * Time in milliseconds to wait if the process that wrote the ready file has ended. (A started emulator writes its
 * address and process id to the ready file.) An emulator that is just starting may still replace the file.
 */
const STALE = 1_000;

/**
 * Command `emulator wait`: exits with 0 when an emulator responds. Exits with 3 on timeout, or when the emulator's
 * process has ended.
 */
export const waitCommand = defineCommand({
  name: 'wait',
  describe: 'Wait until an emulator responds; exit status 3 on timeout, or as soon as its process has ended',
  flags: {
    url: ADMIN_FLAGS.url,
    'ready-file': {
      read: text('the name of a file'),
      describe: 'File that `emulator start --ready-file` writes, from which the address is read instead of --url',
    },
    pid: {
      read: integer(1, 2 ** 31 - 1),
      describe: 'Id of the process of the emulator; waiting ends when this process ends',
    },
    timeout: { read: duration, default: '30s', describe: 'Maximum time to wait, such as 30s' },
    json: ADMIN_FLAGS.json,
  },
  exclusive: [['url', 'ready-file']],
  run: async ({ url: given, 'ready-file': readyFile, pid, timeout, json }, session) => {
    const url = findUrl(given, session.terminal);
    const find = async (): Promise<Found> => {
      if (readyFile === undefined) return { url, writer: undefined };
      const ready = await readReady(readyFile);
      return { url: ready?.url, writer: ready?.pid };
    };
    const { url: found, complaint } = await waitFor(find, session.terminal, { pid, timeout });
    if (json) {
      printJson(session.terminal, { url: found ?? null, ready: complaint === undefined, reason: complaint ?? null });
    }
    if (complaint === undefined) return;
    const place = readyFile === undefined ? `at ${url}` : `(ready file ${JSON.stringify(readyFile)})`;
    session.terminal.warn(`No emulator ${place}: ${complaint}.\n`);
    session.exitCode = 3;
  },
});

/**
 * Address of an emulator, and id of the process that wrote the ready file (which contains the address). Each is
 * undefined if unknown.
 */
interface Found {
  readonly url: string | undefined;
  readonly writer: number | undefined;
}

/**
 * Waits until the emulator responds, its process ends, or the timeout expires. Returns the emulator's address.
 * `complaint` says why the emulator does not respond; undefined if it responds.
 */
async function waitFor(
  find: () => Promise<Found>,
  terminal: Terminal,
  { pid, timeout }: { readonly pid: number | undefined; readonly timeout: number },
): Promise<{ readonly url: string | undefined; readonly complaint: string | undefined }> {
  const started = performance.now();
  const deadline = started + timeout;
  for (let delay = PAUSES.first; ; delay = Math.min(delay * 2, PAUSES.longest)) {
    const { url, writer } = await find();
    const left = deadline - performance.now();
    const complaint =
      url === undefined
        ? 'the file contains no address of an emulator'
        : await probe(url, terminal, atMost(left, 2000));
    // Checks the process before the response, because another emulator may respond at the address of one that has
    // ended.
    if (pid !== undefined && !isAlive(pid)) return { url, complaint: `the process ${pid} has ended` };
    if (complaint === undefined) return { url, complaint };
    if (pid === undefined && writer !== undefined && !isAlive(writer) && performance.now() - started >= STALE) {
      return { url, complaint: `the process ${writer}, which wrote the file, has ended` };
    }
    if (performance.now() + delay > deadline) return { url, complaint: `${complaint}; waited for ${timeout} ms` };
    await pause(delay);
  }
}

/**
 * Returns the remaining time `left` in milliseconds, limited to the range from 1 to `max`. A request cannot have a
 * timeout of 0.
 */
function atMost(left: number, max: number): number {
  return Math.max(1, Math.min(left, max));
}

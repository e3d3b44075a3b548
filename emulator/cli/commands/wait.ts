import { setTimeout as pause } from 'node:timers/promises';
import { duration, integer, text } from '../../config/option-values.js';
import { isAlive } from '../../system/process-owner.js';
import { ADMIN_FLAGS, findUrl, printJson } from '../admin-client.js';
import { defineCommand } from '../command.js';
import { probe } from '../probe.js';
import { readReady } from '../ready.js';
import type { Terminal } from '../terminal.js';

/** Milliseconds between two checks if the emulator responds: at first, and at most. Most emulators are soon ready. */
const PAUSES = { first: 20, longest: 250 };

/** Milliseconds during which the ready file of an ended emulator may still be replaced by a starting one. */
const STALE = 1_000;

/** `emulator wait`: exits with 0 when an emulator responds; with 3 on timeout, or when its process has ended. */
export const waitCommand = defineCommand({
  name: 'wait',
  describe: 'Wait until an emulator answers; exit 3 on timeout, or as soon as its process has ended',
  flags: {
    url: ADMIN_FLAGS.url,
    'ready-file': { read: text('the name of a file'), describe: 'Its ready file, instead of its address' },
    pid: { read: integer(1, 2 ** 31 - 1), describe: 'Id of a process; stop waiting when it ends' },
    timeout: { read: duration, default: '30s', describe: 'Maximum time to wait' },
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

/** Address of an emulator, and id of the process that wrote its ready file; undefined if unknown. */
interface Found {
  readonly url: string | undefined;
  readonly writer: number | undefined;
}

/** Waits for the emulator. Returns its address. `complaint`: why waiting ended; undefined if the emulator responds. */
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
      url === undefined ? 'the file has no address of an emulator' : await probe(url, terminal, atMost(left, 2000));
    // Check the process first, because another emulator may respond at this address.
    if (pid !== undefined && !isAlive(pid)) return { url, complaint: `process ${pid} has ended` };
    if (complaint === undefined) return { url, complaint };
    if (pid === undefined && writer !== undefined && !isAlive(writer) && performance.now() - started >= STALE) {
      return { url, complaint: `process ${writer}, which wrote it, has ended` };
    }
    if (performance.now() + delay > deadline) return { url, complaint: `${complaint}; waited for ${timeout} ms` };
    await pause(delay);
  }
}

/** Returns a timeout of at least 1 millisecond, because a request takes some time. */
function atMost(left: number, max: number): number {
  return Math.max(1, Math.min(left, max));
}

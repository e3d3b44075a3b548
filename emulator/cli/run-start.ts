import { rm } from 'node:fs/promises';
import { type EmulatorOptions, type Flags, readOptions } from '../options.js';
import { writeBanner } from './banner.js';
import { createLog } from './log.js';
import { publishReady, readyLine } from './ready.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

/** What the system says when it does not let a server listen, and what to do about it. */
const LISTEN_ERRORS: ReadonlyMap<string | undefined, (options: EmulatorOptions) => string> = new Map([
  ['EADDRINUSE', ({ port }) => `Port ${port} is in use; choose another with --port, or any free one with --port 0.`],
  ['EACCES', ({ port }) => `Port ${port} needs more rights; choose one above 1023 with --port.`],
  ['EADDRNOTAVAIL', ({ host }) => `This machine has no address ${host}; choose another with --host.`],
  ['ENOTFOUND', ({ host }) => `The host name ${host} does not resolve; choose another with --host.`],
]);

/** Serves until a signal asks to stop. Resolves to the exit code. */
export async function runStart(flags: Flags, terminal: Terminal): Promise<number> {
  const options = readOptions(flags, terminal.environment);
  const stopRequested = untilSignal();
  // Whoever waits for the file must not find that of an earlier run.
  if (options.readyFile !== undefined) await rm(options.readyFile, { force: true });
  const emulator = await start(options, terminal);
  const line = readyLine(emulator, process.pid);
  if (options.readyFile !== undefined) await publishReady(options.readyFile, line);
  terminal.print(terminal.isInteractive ? writeBanner(emulator) : line);
  if (!['127.0.0.1', '::1', 'localhost'].includes(options.host)) {
    terminal.warn(`Listening on ${options.host}: whoever reaches it can sign tokens with the published test keys.\n`);
  }
  await stopRequested;
  await emulator.close();
  return 0;
}

async function start(options: EmulatorOptions, terminal: Terminal) {
  const { startEmulator } = await import('../index.js');
  try {
    return await startEmulator(options, { log: createLog(options.log, (text) => terminal.warn(text)) });
  } catch (error) {
    const explain = LISTEN_ERRORS.get((error as NodeJS.ErrnoException).code);
    if (!explain) throw error;
    throw new UsageError(explain(options));
  }
}

/** Resolves at the first SIGTERM or SIGINT, which lets requests finish; the second ends the process at once. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const numbers = { SIGINT: 2, SIGTERM: 15 } as const;
    for (const [signal, number] of Object.entries(numbers)) {
      process.on(signal, () => {
        if (asked) process.exit(128 + number);
        asked = true;
        resolve();
      });
    }
  });
}

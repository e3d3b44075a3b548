import { isLoopback } from '../config/loopback.js';
import { type EmulatorOptions, type Flags, readOptions } from '../config/options.js';
import type { BuiltInHosts, Emulator, startEmulator } from '../index.js';
import { pageUrl, writeBanner } from './banner.js';
import { createLog } from './log.js';
import { clearReady, publishReady, readyLine, withdrawReady } from './ready.js';
import { type Stop, StopSignals } from './stop-signals.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

type Refusal = NodeJS.ErrnoException & { readonly port?: number };

/** What the system says when it does not let a server listen, and what to do about it. */
const LISTEN_ERRORS: ReadonlyMap<string | undefined, (options: EmulatorOptions, port: number) => string> = new Map([
  [
    'EADDRINUSE',
    (_options, port) => `Port ${port} is in use; choose another with --port, or any free one with --port 0.`,
  ],
  ['EACCES', (_options, port) => `Port ${port} needs more rights; choose one above 1023 with --port.`],
  ['EADDRNOTAVAIL', ({ host }) => `This machine has no address ${host}; choose another with --host.`],
  ['EAFNOSUPPORT', ({ host }) => `This machine has no addresses of the kind of ${host}; choose another with --host.`],
  ['EINVAL', ({ host }) => `${host} is no address to listen on; choose another with --host.`],
  ['ENOTFOUND', ({ host }) => `The host name ${host} does not resolve; choose another with --host.`],
  ['EAI_AGAIN', ({ host }) => `The host name ${host} does not resolve now; choose another with --host.`],
]);

/** Exit code if the last save to the folder of `--persist` failed. */
export const NOT_SAVED = 4;
/** Milliseconds that the last save may take after the requests have ended. */
const LAST_SAVE = 5_000;

/** Serves until a signal asks to stop. Resolves to the exit code. Throws `UsageError` when it cannot start. */
export async function runStart(flags: Flags, terminal: Terminal): Promise<number> {
  const options = readOptions(flags, terminal.environment);
  const { drainTimeout } = options.limits;
  const signals =
    options.persist === undefined
      ? new StopSignals(drainTimeout)
      : new StopSignals(drainTimeout + LAST_SAVE, NOT_SAVED);
  const unwatch = options.exitWithParent ? await watchParent(() => signals.ask()) : undefined;
  try {
    const isSaved = await withEmulator(options, terminal, signals, {}, async (emulator, { line, closed }) => {
      const end = Promise.race([signals.first, closed]);
      terminal.print(terminal.isInteractive ? writeBanner(emulator) : line);
      const error = await Promise.race([terminal.printed(), end]);
      if (error) throw new UsageError(`The ready line cannot be written to standard output: ${error.message}.`);
      if (!terminal.isInteractive)
        createLog(options.log, terminal.warn).write({ event: 'page', url: pageUrl(emulator) });
      const warning = keyWarning(options);
      if (warning !== undefined) terminal.warn(`Listening on ${options.host}: ${warning}.\n`);
      await end;
    });
    return isSaved ? 0 : NOT_SAVED;
  } finally {
    unwatch?.();
    signals.release();
  }
}

/** Loaded where it is asked for, as every file that is read makes a start longer. */
export async function watchParent(onGone: () => void): Promise<() => void> {
  const { watchParent: watch } = await import('./parent-watch.js');
  return watch(onGone);
}

export interface Running {
  /** The ready line. */
  readonly line: string;
  /** Resolves when nothing of it is left, as a request to its admin routes may ask for. */
  readonly closed: Promise<undefined>;
}

/**
 * Starts an emulator, with its ready file, and closes it when `use` is over; unless it was asked to stop by then, without
 * waiting for its requests. When it is asked to stop while it starts, `use` is not called. Resolves to false if the state could
 * not be saved at the end. Throws `UsageError` for what the system refuses.
 */
export async function withEmulator(
  options: EmulatorOptions,
  terminal: Terminal,
  stop: Stop,
  given: { readonly hosts?: BuiltInHosts | undefined },
  use: (emulator: Emulator, running: Running) => Promise<void>,
): Promise<boolean> {
  const { readyFile } = options;
  let wasSaved = true;
  const { hosts } = given;
  try {
    if (readyFile !== undefined) await clearReady(readyFile);
    let tellClosed = (_isSaved: boolean): void => {};
    const closed = new Promise<undefined>((resolve) => {
      tellClosed = (isSaved) => {
        wasSaved = isSaved;
        resolve(undefined);
      };
    });
    const ports = {
      log: createLog(options.log, (text) => terminal.warn(text)),
      onClosed: (isSaved: boolean) => tellClosed(isSaved),
      onWarning: (sentence: string) => terminal.warn(`${sentence}\n`),
      ...(hosts && { hosts }),
    };
    const progress = options.import === undefined ? undefined : await importProgress(terminal);
    const further = progress ? { ...ports, onImport: progress.add } : ports;
    const emulator = await Promise.race([start(options, further, stop), stop.first]).finally(() => progress?.end());
    if (!emulator) return wasSaved;
    const line = readyLine(emulator, process.pid);
    try {
      if (readyFile !== undefined) await publishReady(readyFile, line);
      await use(emulator, { line, closed });
    } finally {
      if (readyFile !== undefined) await withdrawReady(readyFile, line);
      await emulator.close(stop.isAsked ? {} : { graceMs: 0 });
    }
    return wasSaved;
  } catch (error) {
    throw explain(error as Refusal, options);
  }
}

/** Few emulators begin with a state. */
async function importProgress(terminal: Terminal) {
  const { Progress } = await import('./progress.js');
  let progress: InstanceType<typeof Progress> | undefined;
  return {
    add: (bytes: number, total: number) => {
      progress ??= new Progress(terminal, 'Imported', total);
      progress.add(bytes);
    },
    end: () => progress?.end(),
  };
}

async function start(
  options: EmulatorOptions,
  ports: NonNullable<Parameters<typeof startEmulator>[1]>,
  stop: Stop,
): Promise<Emulator | undefined> {
  const { startEmulator } = await import('../index.js');
  const emulator = await startEmulator(options, ports);
  if (!stop.isAsked) return emulator;
  await emulator.close({ graceMs: 0 });
  return undefined;
}

/** What to know about keys where other machines reach the emulator. */
function keyWarning({ host, testKeys, key }: EmulatorOptions): string | undefined {
  if (isLoopback(host)) return undefined;
  if (testKeys === true) return 'whoever reaches it can sign tokens with the published test keys';
  return key.length > 0 ? undefined : 'no token is good until a key is given, by --key or --test-keys';
}

/** One sentence about what the system refused; an error that is not the system's is a mistake of ours and stays. */
function explain(error: Refusal, options: EmulatorOptions): Error {
  if (typeof error.syscall !== 'string') return error;
  const sentence = LISTEN_ERRORS.get(error.code)?.(options, error.port ?? options.port);
  return new UsageError(sentence ?? `The emulator cannot start: ${error.message}.`);
}

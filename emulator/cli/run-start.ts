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

/**
 * Messages that explain, with advice, why the emulator cannot listen on a port. The keys are error codes of the system.
 */
const LISTEN_ERRORS: ReadonlyMap<string | undefined, (options: EmulatorOptions, port: number) => string> = new Map([
  [
    'EADDRINUSE',
    (_options, port) =>
      `Port ${port} is in use. Choose another one with --port, or let the system choose one with --port 0.`,
  ],
  ['EACCES', (_options, port) => `Permission denied for port ${port}. Choose one above 1023 with --port.`],
  ['EADDRNOTAVAIL', ({ host }) => `This machine has no address ${host}. Choose another one with --host.`],
  [
    'EAFNOSUPPORT',
    ({ host }) => `This machine does not support the address family of ${host}. Choose another address with --host.`,
  ],
  ['EINVAL', ({ host }) => `${host} is not an address on which a server can listen. Choose another one with --host.`],
  ['ENOTFOUND', ({ host }) => `The host name ${host} has no address in DNS. Choose another one with --host.`],
  [
    'EAI_AGAIN',
    ({ host }) => `DNS cannot be asked for the host name ${host} at present. Choose an address with --host.`,
  ],
]);

/** Exit code if the emulator stopped but could not save its state to the folder of `--persist`. */
export const NOT_SAVED = 4;
/**
 * Maximum time in milliseconds for saving the state when the emulator stops. It begins when the last request has ended.
 */
const LAST_SAVE = 5_000;

/**
 * Runs an emulator until a signal stops it, and resolves to the exit code. Throws `UsageError` if the emulator cannot
 * start.
 */
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

/**
 * Calls `onGone` when the parent process ends. Loads the module on demand, because each loaded file slows the start.
 */
export async function watchParent(onGone: () => void): Promise<() => void> {
  const { watchParent: watch } = await import('./parent-watch.js');
  return watch(onGone);
}

export interface Running {
  /** Line of JSON with all addresses of the emulator, for scripts. */
  readonly line: string;
  /** Resolves when the emulator is closed, for example by a request to its admin API. */
  readonly closed: Promise<undefined>;
}

/**
 * Starts an emulator with its ready file, calls `use`, and then closes the emulator. Does not call `use` if a stop is
 * requested during the start. Waits for pending requests only if a stop was requested. Resolves to false if the state
 * could not be saved at the end. Throws `UsageError` if the operating system refuses something.
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
    let resolveClosed = (_isSaved: boolean): void => {};
    const closed = new Promise<undefined>((resolve) => {
      resolveClosed = (isSaved) => {
        wasSaved = isSaved;
        resolve(undefined);
      };
    });
    const ports = {
      log: createLog(options.log, (text) => terminal.warn(text)),
      onClosed: (isSaved: boolean) => resolveClosed(isSaved),
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

/**
 * Creates a progress display for an import. Loads the module on demand, because few emulators import something at the
 * start.
 */
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

/**
 * Returns a warning about signing keys if other machines can reach the emulator. Returns undefined if no warning is
 * needed.
 */
function keyWarning({ host, testKeys, key }: EmulatorOptions): string | undefined {
  if (isLoopback(host)) return undefined;
  if (testKeys === true)
    return 'anybody who can reach this address can sign valid tokens with the published test keys (--no-test-keys refuses them)';
  return key.length > 0 ? undefined : 'no token is valid until a key is registered with --key or --test-keys';
}

/**
 * Converts an error of the operating system to a `UsageError`. Returns any other error unchanged, because it is a bug.
 */
function explain(error: Refusal, options: EmulatorOptions): Error {
  if (typeof error.syscall !== 'string') return error;
  const sentence = LISTEN_ERRORS.get(error.code)?.(options, error.port ?? options.port);
  return new UsageError(sentence ?? `The emulator cannot start: ${error.message}.`);
}

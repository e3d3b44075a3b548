import { isLoopback } from '../config/loopback.js';
import { type EmulatorOptions, type Flags, readOptions } from '../config/options.js';
import type { Emulator, startEmulator } from '../index.js';
import { writeBanner } from './banner.js';
import { createLog } from './log.js';
import { clearReady, publishReady, readyLine, withdrawReady } from './ready.js';
import { StopSignals } from './stop-signals.js';
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

/** Serves until a signal asks to stop. Resolves to the exit code. Throws `UsageError` when it cannot start. */
export async function runStart(flags: Flags, terminal: Terminal): Promise<number> {
  const options = readOptions(flags, terminal.environment);
  const signals = new StopSignals(options.limits.drainTimeout);
  try {
    if (options.readyFile !== undefined) await clearReady(options.readyFile);
    let tellClosed = (): void => {};
    const closed = new Promise<undefined>((resolve) => {
      tellClosed = () => resolve(undefined);
    });
    const ports = { log: createLog(options.log, (text) => terminal.warn(text)), onClosed: tellClosed };
    const emulator = await Promise.race([start(options, ports, signals), signals.first]);
    if (emulator)
      await serve(emulator, options, terminal, {
        isAsked: () => signals.isAsked,
        end: Promise.race([signals.first, closed]),
      });
    return 0;
  } catch (error) {
    throw explain(error as Refusal, options);
  } finally {
    signals.release();
  }
}

async function start(
  options: EmulatorOptions,
  ports: NonNullable<Parameters<typeof startEmulator>[1]>,
  signals: StopSignals,
): Promise<Emulator | undefined> {
  const { startEmulator } = await import('../index.js');
  const emulator = await startEmulator(options, ports);
  if (!signals.isAsked) return emulator;
  await emulator.close({ graceMs: 0 });
  return undefined;
}

/** What ends an emulator: a signal, or a request to its admin routes. */
interface End {
  readonly end: Promise<undefined>;
  /** Whether a signal asked for it. */
  readonly isAsked: () => boolean;
}

/** Whatever fails before the emulator is known to be ready closes it. */
async function serve(
  emulator: Emulator,
  options: EmulatorOptions,
  terminal: Terminal,
  { end, isAsked }: End,
): Promise<void> {
  const line = readyLine(emulator, process.pid);
  try {
    if (options.readyFile !== undefined) await publishReady(options.readyFile, line);
    terminal.print(terminal.isInteractive ? writeBanner(emulator) : line);
    const error = await Promise.race([terminal.printed(), end]);
    if (error) throw new UsageError(`The ready line cannot be written to standard output: ${error.message}.`);
    if (!isLoopback(options.host)) {
      terminal.warn(`Listening on ${options.host}: whoever reaches it can sign tokens with the published test keys.\n`);
    }
    await end;
  } finally {
    if (options.readyFile !== undefined) await withdrawReady(options.readyFile, line);
    await emulator.close(isAsked() ? {} : { graceMs: 0 });
  }
}

/** One sentence about what the system refused; an error that is not the system's is a mistake of ours and stays. */
function explain(error: Refusal, options: EmulatorOptions): Error {
  if (typeof error.syscall !== 'string') return error;
  const sentence = LISTEN_ERRORS.get(error.code)?.(options, error.port ?? options.port);
  return new UsageError(sentence ?? `The emulator cannot start: ${error.message}.`);
}

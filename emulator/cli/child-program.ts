import { spawn } from 'node:child_process';
import { exitCodeOf, hasTerminal, type RelayedSignals } from './relayed-signals.js';
import type { Terminal } from './terminal.js';

/** env(1), Exit status: found but not to be run; not found. */
const CANNOT_RUN = 126;
const NOT_FOUND = 127;

interface Ports {
  readonly terminal: Terminal;
  readonly signals: RelayedSignals;
  /** Folder that goes with this process, however it ends. */
  readonly scratch?: string;
}

/** Runs a program with the streams of this process. Resolves to its exit code, or to the one that shells give it. */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { terminal, signals, scratch = '' }: Ports,
): Promise<number> {
  // In a session of its own what the program starts gets its signals as well, as it would from a terminal; but such a
  // session has no terminal.
  const detached = !hasTerminal();
  const guard = new Guard(scratch);
  try {
    return await new Promise<number>((resolve, reject) => {
      if (program === '') throw Object.assign(new Error('no name'), { code: 'ENOENT' });
      const child = spawn(program, args, { stdio: 'inherit', env, detached });
      child.on('error', reject);
      child.on('exit', (code, signal) => resolve(signal ? exitCodeOf(signal) : code!));
      if (child.pid === undefined) return;
      const target = detached ? -child.pid : child.pid;
      guard.watch(target);
      signals.relayTo(target);
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isAbsent = code === 'ENOENT';
    const why = isAbsent ? 'there is no such program' : message;
    terminal.warn(`${JSON.stringify(program)} cannot be run: ${why}.\n`);
    return isAbsent ? NOT_FOUND : CANNOT_RUN;
  } finally {
    signals.relayTo(undefined);
    guard.release();
  }
}

/** Waits for the end of its standard input, which the system brings about however the writer ends. */
const SCRIPT =
  'IFS= read -r scratch && { read -r target; read -r released || ' +
  '{ [ -z "$target" ] || kill -s KILL -- "$target"; [ -z "$scratch" ] || rm -rf -- "$scratch"; }; }';

/**
 * Kills a program when this process was killed, which it cannot do by itself: a shell in a session of its own that reads
 * from a pipe. Where there is no `/bin/sh`, the program stays.
 */
class Guard {
  readonly #shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: {},
    detached: true,
  });

  /** `scratch`: a folder to remove; empty: none. */
  constructor(scratch: string) {
    this.#shell.on('error', () => {});
    this.#shell.stdin.on('error', () => {});
    this.#shell.stdin.write(`${scratch}\n`);
    this.#shell.unref();
  }

  /** `target`: a process, or below 0 a process group. It is known a moment after the program has begun. */
  watch(target: number): void {
    this.#shell.stdin.write(`${target}\n`);
  }

  release(): void {
    this.#shell.stdin.end('released\n');
  }
}

import { spawn } from 'node:child_process';
import { exitCodeOf, hasTerminal, type RelayedSignals } from './relayed-signals.js';
import type { Terminal } from './terminal.js';

/** Exit codes of env(1): the program was found and could not be run; not found. */
const CANNOT_RUN = 126;
const NOT_FOUND = 127;

interface Ports {
  readonly terminal: Terminal;
  readonly signals: RelayedSignals;
  /** Folder that is removed when this process ends, however it ends. */
  readonly scratch?: string;
}

/**
 * Runs a program with the streams of this process. Resolves to its exit code, or to 128 plus the signal number, as in
 * shells.
 */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { terminal, signals, scratch = '' }: Ports,
): Promise<number> {
  // In its own session, the program's children receive its signals too, as they would from a terminal. Such a session
  // has no terminal, so it is not used if there is one.
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
    const why = isAbsent ? 'no such program' : message;
    terminal.warn(`${JSON.stringify(program)} cannot be run: ${why}.\n`);
    return isAbsent ? NOT_FOUND : CANNOT_RUN;
  } finally {
    signals.relayTo(undefined);
    guard.release();
  }
}

/** Waits for the end of standard input. The operating system closes the pipe however the writer ends. */
const SCRIPT =
  'IFS= read -r scratch && { read -r target; read -r released || ' +
  '{ [ -z "$target" ] || kill -s KILL -- "$target"; [ -z "$scratch" ] || rm -rf -- "$scratch"; }; }';

/**
 * Kills the program if this process was killed with SIGKILL. It is a shell in its own session that reads from a pipe.
 * Without `/bin/sh`, the program keeps running.
 */
class Guard {
  readonly #shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: {},
    detached: true,
  });

  /** `scratch`: folder to remove; empty for none. */
  constructor(scratch: string) {
    this.#shell.on('error', () => {});
    this.#shell.stdin.on('error', () => {});
    this.#shell.stdin.write(`${scratch}\n`);
    this.#shell.unref();
  }

  /** `target`: process id, or a negative process group id. It is only known shortly after the program has started. */
  watch(target: number): void {
    this.#shell.stdin.write(`${target}\n`);
  }

  release(): void {
    this.#shell.stdin.end('released\n');
  }
}

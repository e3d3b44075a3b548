import { spawn } from 'node:child_process';
import { exitCodeOf, hasTerminal, type RelayedSignals } from './relayed-signals.js';
import type { Terminal } from './terminal.js';

/** Exit codes of env(1). `CANNOT_RUN`: the program was found but could not be run. `NOT_FOUND`: it was not found. */
const CANNOT_RUN = 126;
const NOT_FOUND = 127;

interface Ports {
  readonly terminal: Terminal;
  readonly signals: RelayedSignals;
  /** Temporary folder, removed when this process ends, even by SIGKILL. */
  readonly scratch?: string;
}

/**
 * Runs a program with this process's standard streams. Resolves to the program's exit code. If a signal ended the
 * program, resolves to 128 plus the signal number, as in shells.
 */
export async function runProgram(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { terminal, signals, scratch = '' }: Ports,
): Promise<number> {
  // Runs the program in its own session, so that signals also reach its children, as signals from a terminal would. If
  // there is a terminal, the program stays in this session, because it could not read from the terminal in another one.
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

/**
 * Shell script that waits until its standard input ends. The input is a pipe from this process, which the operating
 * system closes when this process ends, even by SIGKILL. The script then kills the program and removes the temporary
 * folder. If it has received a third line, it does nothing.
 */
const SCRIPT =
  'IFS= read -r scratch && { read -r target; read -r released || ' +
  '{ [ -z "$target" ] || kill -s KILL -- "$target"; [ -z "$scratch" ] || rm -rf -- "$scratch"; }; }';

/**
 * Helper process that kills the program if this process is killed with SIGKILL. It is a shell in its own session that
 * reads from a pipe. Without `/bin/sh`, the program would keep running.
 */
class Guard {
  readonly #shell = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    env: {},
    detached: true,
  });

  /** Starts the helper process. `scratch` is the temporary folder that it removes; empty for none. */
  constructor(scratch: string) {
    this.#shell.on('error', () => {});
    this.#shell.stdin.on('error', () => {});
    this.#shell.stdin.write(`${scratch}\n`);
    this.#shell.unref();
  }

  /**
   * Tells the helper process which program to kill. `target` is a process id, or a negative process group id. It is
   * known only after the program has started.
   */
  watch(target: number): void {
    this.#shell.stdin.write(`${target}\n`);
  }

  release(): void {
    this.#shell.stdin.end('released\n');
  }
}

import { constants } from 'node:os';
import { processRecord } from './processes.js';
import type { Stop } from './stop-signals.js';

const RELAYED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Signals that a terminal sends to all processes of its foreground group when the user types Ctrl-C or `Ctrl-\`. */
const OF_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT'];

/** Returns the exit code for a process that a signal ended: 128 plus the signal number, as in shells. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/**
 * Handles the signals that `emulator exec` receives. Until the program of `exec` runs, a signal stops this process.
 * After that, signals are forwarded to the program.
 */
export class RelayedSignals implements Stop {
  readonly first: Promise<undefined>;
  #asked: NodeJS.Signals | undefined;
  #target: number | undefined;
  #notify = () => {};
  #typed = false;
  #hasEnded = false;
  readonly #listeners = RELAYED.map((signal) => [signal, () => this.#receive(signal)] as const);

  constructor() {
    this.first = new Promise((resolve) => {
      this.#notify = () => resolve(undefined);
    });
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
  }

  get isAsked(): boolean {
    return this.#asked !== undefined;
  }

  /** Exit code of this process if a signal stops it before the program runs. */
  get exitCode(): number {
    return exitCodeOf(this.#asked ?? 'SIGTERM');
  }

  /**
   * Forwards later signals to `target`, a process id or a negative process group id. Undefined means that the program
   * has ended.
   */
  relayTo(target: number | undefined): void {
    this.#target = target;
    this.#hasEnded = target === undefined;
  }

  /** Sends SIGTERM to the program. Sends SIGKILL if `longest` milliseconds have passed. */
  end(longest: number): void {
    this.#pass('SIGTERM');
    setTimeout(() => this.#pass('SIGKILL'), longest).unref();
  }

  release(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: NodeJS.Signals): void {
    // Does not forward the first typed signal, because the terminal has sent it to the program too. Many programs end
    // without cleanup on a second signal.
    if (this.#target !== undefined && OF_TERMINAL.includes(signal) && isInForeground() && !this.#typed) {
      this.#typed = true;
      return;
    }
    this.#pass(signal);
  }

  #pass(signal: NodeJS.Signals): void {
    if (this.#hasEnded) return;
    if (this.#target === undefined) {
      this.#asked ??= signal;
      this.#notify();
      return;
    }
    try {
      process.kill(this.#target, signal);
    } catch {
      // Ignores the error. The process has ended, and its exit event will arrive soon.
    }
  }
}

/**
 * Returns true if this process has a controlling terminal. A program that it starts can then read from the terminal.
 */
export function hasTerminal(): boolean {
  const record = processRecord(process.pid);
  return record ? record.terminal !== 0 : process.stdin.isTTY === true;
}

function isInForeground(): boolean {
  const record = processRecord(process.pid);
  return record ? record.terminal !== 0 && record.group === record.foreground : process.stdin.isTTY === true;
}

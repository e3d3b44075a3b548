import { constants } from 'node:os';
import { processRecord } from './processes.js';
import type { Stop } from './stop-signals.js';

const RELAYED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** Signals that a terminal sends to all processes in the foreground. */
const OF_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT'];

/** Exit code for a signal, as in shells. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/**
 * Signals received by a process that runs a program. Before the program runs, they stop this process; afterwards they
 * are forwarded to the program.
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

  /** Exit code if the program never ran. */
  get exitCode(): number {
    return exitCodeOf(this.#asked ?? 'SIGTERM');
  }

  /** Forwards signals to a process, to a process group if negative, or to none if undefined. */
  relayTo(target: number | undefined): void {
    this.#target = target;
    this.#hasEnded = target === undefined;
  }

  /** Sends SIGTERM to the program, and SIGKILL after `longest` milliseconds. */
  end(longest: number): void {
    this.#pass('SIGTERM');
    setTimeout(() => this.#pass('SIGKILL'), longest).unref();
  }

  release(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: NodeJS.Signals): void {
    // The terminal has already sent a typed signal to the program. A second one would end many programs without
    // cleanup.
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
      // The process has ended, and its exit event is about to arrive.
    }
  }
}

/** Returns true if the process has a terminal, from which the program can read. */
export function hasTerminal(): boolean {
  const record = processRecord(process.pid);
  return record ? record.terminal !== 0 : process.stdin.isTTY === true;
}

function isInForeground(): boolean {
  const record = processRecord(process.pid);
  return record ? record.terminal !== 0 && record.group === record.foreground : process.stdin.isTTY === true;
}

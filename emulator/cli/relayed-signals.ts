import { constants } from 'node:os';
import { processRecord } from './processes.js';
import type { Stop } from './stop-signals.js';

const RELAYED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

/** What a terminal sends by itself to all processes in its foreground. */
const OF_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT'];

/** As shells say it. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Signals to a process that runs a program: before the program runs they ask to stop, from then on they are its own. */
export class RelayedSignals implements Stop {
  readonly first: Promise<undefined>;
  #asked: NodeJS.Signals | undefined;
  #target: number | undefined;
  #tell = () => {};
  #typed = false;
  #hasEnded = false;
  readonly #listeners = RELAYED.map((signal) => [signal, () => this.#receive(signal)] as const);

  constructor() {
    this.first = new Promise((resolve) => {
      this.#tell = () => resolve(undefined);
    });
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
  }

  get isAsked(): boolean {
    return this.#asked !== undefined;
  }

  /** Of a program that never ran. */
  get exitCode(): number {
    return exitCodeOf(this.#asked ?? 'SIGTERM');
  }

  /** From here on signals go to a process, or below 0 to a process group; to undefined: to none. */
  relayTo(target: number | undefined): void {
    this.#target = target;
    this.#hasEnded = target === undefined;
  }

  /** Asks the program to end, and after `longest` milliseconds does not ask. */
  end(longest: number): void {
    this.#pass('SIGTERM');
    setTimeout(() => this.#pass('SIGKILL'), longest).unref();
  }

  release(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: NodeJS.Signals): void {
    // What was typed has reached the program already, and two of them end many programs without their clean-up.
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
      this.#tell();
      return;
    }
    try {
      process.kill(this.#target, signal);
    } catch {
      // It is about to be told that the program has ended.
    }
  }
}

/** Whether the process has a terminal, from which a program that it starts may read. */
export function hasTerminal(): boolean {
  const record = processRecord(process.pid);
  return record ? record.terminal !== 0 : process.stdin.isTTY === true;
}

function isInForeground(): boolean {
  const record = processRecord(process.pid);
  return record ? record.terminal !== 0 && record.group === record.foreground : process.stdin.isTTY === true;
}

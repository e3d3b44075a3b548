const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** Request to stop an emulator. It may arrive even before the emulator has started. */
export interface Stop {
  /** Resolves when a stop is requested for the first time. */
  readonly first: Promise<undefined>;
  readonly isAsked: boolean;
}

/** Handles SIGTERM and SIGINT. The first signal requests a stop; the second ends the process at once. */
export class StopSignals implements Stop {
  readonly first: Promise<undefined>;
  #isAsked = false;
  readonly #longest: number;
  readonly #exitCode: number;
  #notify = () => {};
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[];

  /**
   * Creates the handler. If the process still runs `longest` milliseconds after the first signal, it exits with
   * `exitCode`.
   */
  constructor(longest: number, exitCode = 0) {
    this.#longest = longest;
    this.#exitCode = exitCode;
    this.first = new Promise((resolve) => {
      this.#notify = () => resolve(undefined);
    });
    this.#listeners = Object.entries(NUMBERS).map(([signal, number]) => {
      const listener = (): void => {
        if (this.#isAsked) process.exit(128 + number);
        this.ask();
      };
      process.on(signal, listener);
      return [signal as NodeJS.Signals, listener];
    });
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Requests a stop, just as the first signal does. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    setTimeout(() => process.exit(this.#exitCode), this.#longest).unref();
    this.#notify();
  }

  /** Removes the signal handlers. For a process that has not started anything that would need to be stopped. */
  release(): void {
    if (this.#isAsked) return;
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}

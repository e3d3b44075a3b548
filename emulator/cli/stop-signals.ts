const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** Request to stop an emulator. The request can arrive even before the emulator has started. */
export interface Stop {
  /** Resolves on the first request to stop. */
  readonly first: Promise<undefined>;
  readonly isAsked: boolean;
}

/** Handles SIGTERM and SIGINT: the first one requests a stop, the second one ends the process at once. */
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

  /** Requests a stop of the emulator, as the first signal does. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    setTimeout(() => process.exit(this.#exitCode), this.#longest).unref();
    this.#notify();
  }

  /** Removes the signal handlers, for a process that has started nothing that must be stopped. */
  release(): void {
    if (this.#isAsked) return;
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}

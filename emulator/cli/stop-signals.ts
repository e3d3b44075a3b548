const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** What asks an emulator to stop, also while it starts. */
export interface Stop {
  /** Resolves when it is asked for the first time. */
  readonly first: Promise<undefined>;
  readonly isAsked: boolean;
}

/** SIGTERM and SIGINT: the first asks to stop, the second ends the process at once. */
export class StopSignals implements Stop {
  readonly first: Promise<undefined>;
  #isAsked = false;
  readonly #longest: number;
  readonly #exitCode: number;
  #tell = () => {};
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[];

  /** After `longest` milliseconds the first signal ends the process too, with `exitCode`, whatever still holds it. */
  constructor(longest: number, exitCode = 0) {
    this.#longest = longest;
    this.#exitCode = exitCode;
    this.first = new Promise((resolve) => {
      this.#tell = () => resolve(undefined);
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

  /** Stops as the first signal does. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    setTimeout(() => process.exit(this.#exitCode), this.#longest).unref();
    this.#tell();
  }

  /** Leaves signals to the system again, where nothing was started that has to be stopped. */
  release(): void {
    if (this.#isAsked) return;
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}

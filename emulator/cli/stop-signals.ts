const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** SIGTERM and SIGINT: the first asks to stop, the second ends the process at once. */
export class StopSignals {
  /** Resolves at the first. */
  readonly first: Promise<undefined>;
  #isAsked = false;
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[];

  /** After `longest` milliseconds the first signal ends the process too, whatever still holds it. */
  constructor(longest: number) {
    let ask = () => {};
    this.first = new Promise((resolve) => {
      ask = () => resolve(undefined);
    });
    this.#listeners = Object.entries(NUMBERS).map(([signal, number]) => {
      const listener = (): void => {
        if (this.#isAsked) process.exit(128 + number);
        this.#isAsked = true;
        setTimeout(() => process.exit(), longest).unref();
        ask();
      };
      process.on(signal, listener);
      return [signal as NodeJS.Signals, listener];
    });
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Leaves signals to the system again, where nothing was started that has to be stopped. */
  release(): void {
    if (this.#isAsked) return;
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}

import type { Identity, Issued } from './authority.js';

/**
 * System time with a timer; tests replace both. Certificates need the system time instead of the emulator's clock,
 * because clients check them by it.
 */
export interface MachineTime {
  now(): number;
  /** Calls `act` every `milliseconds`. Returns a function that stops the timer. */
  every(milliseconds: number, act: () => void): () => void;
}

/** System time of this machine. Its timers do not keep the process alive. */
export const machineTime: MachineTime = {
  now: () => Date.now(),
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/**
 * Milliseconds between two checks whether a certificate must be renewed. After a suspension of the machine, the
 * certificate is renewed within this interval.
 */
const LOOK = 60_000;

/**
 * Certificate and key of the HTTPS servers, with their renewal. They are replaced when half of the certificate's
 * validity has passed, or when the system time was set back to before its validity.
 */
export class RenewedIdentity {
  readonly #listeners = new Set<(identity: Identity) => void>();
  readonly #unwatch: () => void;
  #isRenewing = false;

  constructor(
    public current: Issued,
    issue: () => Promise<Issued>,
    time: MachineTime,
  ) {
    this.#unwatch = time.every(LOOK, () => {
      const { from, to } = this.current.validity;
      const now = time.now();
      if (this.#isRenewing || (now >= from && now < (from + to) / 2)) return;
      this.#isRenewing = true;
      // An error of `issue` is ignored, because the next check tries again.
      issue()
        .then(
          (identity) => this.#show(identity),
          () => {},
        )
        .finally(() => {
          this.#isRenewing = false;
        });
    });
  }

  /** Calls `listener` with each new certificate and key. Returns a function that ends this. */
  onRenewed(listener: (identity: Identity) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unwatch();
  }

  #show(identity: Issued): void {
    this.current = identity;
    for (const listener of this.#listeners) listener(identity);
  }
}

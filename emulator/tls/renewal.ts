import type { Identity, Issued } from './authority.js';

/**
 * System time and a timer, which tests replace. Certificates need the system time rather than the emulator's clock,
 * because clients check them by it.
 */
export interface MachineTime {
  now(): number;
  /** Calls `act` at this interval. The caller calls the returned function to stop the timer. */
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
 * Milliseconds between two checks if a certificate must be renewed. After a machine was suspended, the certificate is
 * renewed within this interval.
 */
const LOOK = 60_000;

/**
 * Certificate and key of the HTTPS servers. They are replaced when half of the certificate's validity has passed, or
 * when the system clock was set back to before it.
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

  /** Calls `listener` with each new certificate and key. The caller calls the returned function to stop this. */
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

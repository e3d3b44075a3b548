import type { Identity, Issued } from './authority.js';

/** System time, by which clients check certificates, and a timer. */
export interface MachineTime {
  now(): number;
  /** Calls `act` at this interval, until the returned function is called. */
  every(milliseconds: number, act: () => void): () => void;
}

/** System time. Its timers do not keep the process alive. */
export const machineTime: MachineTime = {
  now: () => Date.now(),
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** Milliseconds between two checks. A machine that was suspended renews its certificate within one interval. */
const LOOK = 60_000;

/** Identity of servers. It is replaced when half of its validity has passed, or when the clock was set back. */
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
      // A failed renewal is retried at the next check.
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

  /** Calls `listener` with each new identity, until the returned function is called. */
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

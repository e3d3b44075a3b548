import type { Identity, Issued } from './authority.js';

/** The time by which clients judge certificates, and what looks at it again and again. */
export interface MachineTime {
  now(): number;
  /** Calls `act` every so many milliseconds, until the function that it returns is called. */
  every(milliseconds: number, act: () => void): () => void;
}

/** It keeps no process alive. */
export const machineTime: MachineTime = {
  now: () => Date.now(),
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** Milliseconds between two looks. A machine that slept notices within one that its certificate has aged. */
const LOOK = 60_000;

/** What servers show, which another takes the place of when half of its life is over, or the clock was set back. */
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
      // One that fails is tried again at the next look.
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

  /** Calls `listener` with each that comes, until the function that it returns is called. */
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

/**
 * Latches by name. A latch is a barrier for tests: requests with a fault `hold` wait at it until a test releases it.
 *
 * A latch exists while at least one request waits at it. A release affects only requests that wait at that moment.
 * `release` returns 0 if no request waits, so that the test can try again later.
 */
export class Latches {
  private readonly holders = new Map<string, Set<() => void>>();
  private isClosed = false;

  /**
   * Waits at a latch. Resolves when the latch is released, when all latches are closed, or when `signal` is aborted.
   */
  hold(name: string, signal: AbortSignal): Promise<void> {
    if (this.isClosed || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const holders = this.holders.get(name) ?? new Set();
      const release = (): void => {
        signal.removeEventListener('abort', release);
        holders.delete(release);
        if (holders.size === 0 && this.holders.get(name) === holders) this.holders.delete(name);
        resolve();
      };
      this.holders.set(name, holders.add(release));
      signal.addEventListener('abort', release);
    });
  }

  /** Releases all requests that wait at the latch, and returns their number. */
  release(name: string): number {
    const holders = [...(this.holders.get(name) ?? [])];
    for (const release of holders) release();
    return holders.length;
  }

  /** Returns the number of waiting requests of each latch, by the name of the latch. */
  waiting(): ReadonlyMap<string, number> {
    return new Map([...this.holders].map(([name, { size }]) => [name, size]));
  }

  /** Releases all waiting requests, so that the service can stop. After this, `hold` no longer waits. */
  close(): void {
    this.isClosed = true;
    for (const name of [...this.holders.keys()]) this.release(name);
  }
}

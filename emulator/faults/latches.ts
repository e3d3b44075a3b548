/**
 * Latches by name. Each holds requests until it is released. A latch exists while something waits for it. A release
 * affects only those that wait at that moment; a release without waiters returns 0, so the script that sent it can try
 * again.
 */
export class Latches {
  private readonly holders = new Map<string, Set<() => void>>();
  private isClosed = false;

  /** Resolves when the latch is released, all latches are closed, or `signal` is aborted. */
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

  /** Releases all waiters of the latch. Returns their number. */
  release(name: string): number {
    const holders = [...(this.holders.get(name) ?? [])];
    for (const release of holders) release();
    return holders.length;
  }

  /** Returns the number of waiters by latch. */
  waiting(): ReadonlyMap<string, number> {
    return new Map([...this.holders].map(([name, { size }]) => [name, size]));
  }

  /** Releases all waiters. Later calls of `hold` return immediately. */
  close(): void {
    this.isClosed = true;
    for (const name of [...this.holders.keys()]) this.release(name);
  }
}

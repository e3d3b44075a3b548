/**
 * What holds requests until it is released, by name. A latch is there as long as something waits for it: a release
 * lets go of what waits at that moment, and is not remembered for what comes later. So one that came too early says
 * that it released nothing, and the script that sent it can wait until there is something to release.
 */
export class Latches {
  private readonly holders = new Map<string, Set<() => void>>();
  private isClosed = false;

  /** Resolves when the latch is released, when all of them are closed, or when `signal` is aborted. */
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

  /** Lets go of everything that waits for the latch; returns how much that was. */
  release(name: string): number {
    const holders = [...(this.holders.get(name) ?? [])];
    for (const release of holders) release();
    return holders.length;
  }

  /** How much waits for each latch, by name. */
  waiting(): ReadonlyMap<string, number> {
    return new Map([...this.holders].map(([name, { size }]) => [name, size]));
  }

  /** Lets go of everything, and holds nothing any more. */
  close(): void {
    this.isClosed = true;
    for (const name of [...this.holders.keys()]) this.release(name);
  }
}

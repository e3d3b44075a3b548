/** Counter whose first call of `next` returns 1. Its value is part of snapshots. */
export class Counter {
  private count = 0;

  next(): number {
    this.count += 1;
    return this.count;
  }

  snapshot(): number {
    return this.count;
  }

  restore(count: number): void {
    this.count = count;
  }
}

/** Counter that returns 1 at the first call of `next`. Its value is part of snapshots. */
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

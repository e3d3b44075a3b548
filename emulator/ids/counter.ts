/** Counter whose first call of `next` returns 1. Snapshots contain its value. */
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

/** The last rows of a stream, each with its number; those before them are let go. */
export class RowList<T> {
  private rows: T[] = [];
  private firstNumber = 0;

  constructor(private readonly most: number) {}

  /** How many there have been; the number of the next. */
  total = 0;

  /** The number of the oldest that is kept. */
  get first(): number {
    return Math.max(this.firstNumber, this.total - this.most);
  }

  /** Since it was empty, so many were let go. */
  get letGo(): number {
    return this.first - this.firstNumber;
  }

  add(row: T): void {
    this.rows[this.total % this.most] = row;
    this.total += 1;
  }

  /** Undefined where it was let go, or has not come yet. */
  get(number: number): T | undefined {
    return number >= this.first && number < this.total ? this.rows[number % this.most] : undefined;
  }

  /** The number of the newest row that `isWanted`. */
  find(isWanted: (row: T) => boolean): number | undefined {
    for (let number = this.total - 1; number >= this.first; number--) if (isWanted(this.get(number)!)) return number;
    return undefined;
  }

  /** What has come is let go; the numbers go on. */
  clear(): void {
    this.rows = [];
    this.firstNumber = this.total;
  }
}

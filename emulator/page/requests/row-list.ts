/** The last rows of a stream, each with its number; those before them are let go. */
export class RowList<T> {
  private rows: T[] = [];
  private firstNumber = 0;
  /** Whether `clear` was called. */
  isCleared = false;

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
    this.rows[this.placeOf(this.total)] = row;
    this.total += 1;
  }

  /** Adds a row that is older than all others. Returns false if there is no room for it, or they were cleared. */
  addOlder(row: T): boolean {
    if (this.isCleared || this.total - this.firstNumber >= this.most) return false;
    this.firstNumber -= 1;
    this.rows[this.placeOf(this.firstNumber)] = row;
    return true;
  }

  /** Undefined where it was let go, or has not come yet. */
  get(number: number): T | undefined {
    return number >= this.first && number < this.total ? this.rows[this.placeOf(number)] : undefined;
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
    this.isCleared = true;
  }

  /** Numbers of older rows are negative. */
  private placeOf(number: number): number {
    return ((number % this.most) + this.most) % this.most;
  }
}

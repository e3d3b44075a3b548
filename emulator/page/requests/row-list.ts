/** The last rows of a stream, each with its number; those before them are let go. */
export class RowList<T> {
  private rows: T[] = [];
  /** The number of the oldest that is kept. */
  first = 0;
  /** Since it was empty, so many were let go. */
  letGo = 0;
  /** Whether `clear` was called. */
  isCleared = false;

  constructor(private readonly most: number) {}

  /** How many there have been; the number of the next. */
  get total(): number {
    return this.first + this.rows.length;
  }

  add(row: T): void {
    this.rows.push(row);
    if (this.rows.length <= this.most) return;
    this.rows.shift();
    this.first += 1;
    this.letGo += 1;
  }

  /** Adds a row that is older than all others. Returns false if there is no room for it, or they were cleared. */
  addOlder(row: T): boolean {
    if (this.isCleared || this.rows.length >= this.most) return false;
    this.rows.unshift(row);
    this.first -= 1;
    return true;
  }

  /** Undefined where it was let go, or has not come yet. */
  get(number: number): T | undefined {
    return this.rows[number - this.first];
  }

  /** The number of the newest row that `isWanted`. */
  find(isWanted: (row: T) => boolean): number | undefined {
    const at = this.rows.findLastIndex(isWanted);
    return at < 0 ? undefined : this.first + at;
  }

  /** What has come is let go; the numbers go on. */
  clear(): void {
    this.first = this.total;
    this.rows = [];
    this.letGo = 0;
    this.isCleared = true;
  }
}
